"""Private folders for work in progress, and the removal of those whose makers were killed."""

import atexit
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from kernelwright.errors import PrerequisiteError, scarce

STALE_SECONDS = 3600.0
LEAST_BYTES = 1 << 20
_NAME = re.compile(r"kernelwright-[a-z]+-(\d+)-.*")


def scratch(kind: str) -> Path:
    """A new private folder that the caller removes.

    Args:
        kind: what it is for, one lower-case word; part of its name.

    Raises:
        PrerequisiteError: there is no room for it.
    """
    try:
        _sweep()
        name = f"kernelwright-{kind}-{os.getpid()}-{secrets.token_hex(6)}"
        folder = Path(tempfile.gettempdir()) / name
        # Known before it is there: whatever interrupts its maker, it goes when this process ends.
        _made.append((os.getpid(), folder))
        folder.mkdir(mode=0o700)
        return folder
    except OSError as problem:
        raise scarce(problem) or PrerequisiteError(
            f"no folder for temporary files: {problem.strerror or problem}",
            hint="point TMPDIR to a folder that may be written",
        ) from problem


@contextmanager
def workroom(kind: str) -> Iterator[Path]:
    """A private folder for the body, removed afterwards.

    Args:
        kind: as for :func:`scratch`.

    Raises:
        PrerequisiteError: there is no room for it, or for what the body writes.
    """
    folder = scratch(kind)
    try:
        yield folder
    except OSError as problem:
        lacking = scarce(problem)
        if lacking is None:
            raise
        raise lacking from problem
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def require_room() -> None:
    """Tell a full disk from the failure of a program that had to write there.

    Raises:
        PrerequisiteError: temporary files have no room left.
    """
    folder = tempfile.gettempdir()
    found = os.statvfs(folder)
    if found.f_bavail * found.f_frsize < LEAST_BYTES or (found.f_files and not found.f_favail):
        raise PrerequisiteError(
            f"no space is left for temporary files in {folder}",
            hint="free some space, or point TMPDIR to another disk",
        )


@cache
def _sweep() -> None:
    """Remove, once a process, old folders of this user whose makers no longer run.

    Old, because a process of another container that shares the folder cannot be seen from here.
    """
    for path in Path(tempfile.gettempdir()).glob("kernelwright-*"):
        found = _NAME.fullmatch(path.name)
        try:
            if found is None or path.stat().st_uid != os.geteuid() or _runs(int(found[1])):
                continue
            if time.time() - path.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue


_made: list[tuple[int, Path]] = []


@atexit.register
def _clear() -> None:
    for maker, folder in _made:
        if maker == os.getpid():
            shutil.rmtree(folder, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
