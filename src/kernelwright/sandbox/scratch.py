"""Private folders for work in progress, and the removal of those whose makers were killed."""

import os
import re
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path

STALE_SECONDS = 3600.0
_NAME = re.compile(r"kernelwright-[a-z]+-(\d+)-.*")


def scratch(kind: str) -> Path:
    """A new private folder that the caller removes.

    Args:
        kind: what it is for, one lower-case word; part of its name.
    """
    _sweep()
    return Path(tempfile.mkdtemp(prefix=f"kernelwright-{kind}-{os.getpid()}-"))


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


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
