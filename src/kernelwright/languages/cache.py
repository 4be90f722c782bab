"""Built libraries by content: equal source, values, flags, compiler and processor, one build.

An entry is a folder that was filled before it got its name and is never changed; its name is a
link, which appears, and is replaced, in one step. So several processes may build the same thing
at the same time: each gets a whole entry, its own or another's. An entry carries the hash of its
library: a damaged one is thrown away, and only that one.
"""

import atexit
import contextlib
import hashlib
import itertools
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kernelwright.errors import PrerequisiteError, scarce
from kernelwright.sandbox.scratch import scratch
from kernelwright.settings import Settings

LARGEST_BYTES = 1 << 30
_YOUNG_S = 3600.0
_FACTS = "facts.json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    """One built library and what is known about it."""

    library: Path
    facts: dict[str, Any]


def cache_folder() -> Path:
    """Where built kernels lie unless something else is asked for: the setting ``cache``."""
    return Settings.load().cache


def key(*parts: object) -> str:
    """Hash of everything that a build depends on."""
    text = json.dumps(parts, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Cache:
    """A folder of builds.

    Args:
        folder: its home; created when missing. Where it cannot be written, or others could write
            to it, a private temporary folder serves until this process ends; it also takes what
            does not fit any more.
        largest_bytes: when the entries outgrow this, the longest unused go.
        file: what a built library is called in its entry.
    """

    def __init__(
        self, folder: Path, largest_bytes: int = LARGEST_BYTES, file: str = "kernel.so"
    ) -> None:
        self.folder = _usable(folder)
        self.largest_bytes = largest_bytes
        self._file = file

    def get(self, name: str) -> Entry | None:
        """The entry of that key, or None; a damaged one is removed."""
        places = [_place(folder, name) for folder in (self.folder, *_spares)]
        return next((found for place in places if (found := _entry(place, self._file))), None)

    def put(self, name: str, library: bytes, facts: dict[str, Any]) -> Entry:
        """Keep a build; if another process was faster, its entry is returned.

        Raises:
            PrerequisiteError: it fits neither here nor among the temporary files.
        """
        facts = {**facts, "sha256": hashlib.sha256(library).hexdigest()}
        try:
            found = _put(self.folder, name, library, facts, self._file)
        except OSError as problem:
            _tell(self.folder, problem.strerror or str(problem))
            found = self._put_aside(name, library, facts)
        if next(_puts) % 64 == 0:
            self.prune()
        return found

    def _put_aside(self, name: str, library: bytes, facts: dict[str, Any]) -> Entry:
        try:
            return _put(_spare(), name, library, facts, self._file)
        except OSError as problem:
            raise scarce(problem) or PrerequisiteError(
                f"a built kernel cannot be kept: {problem}",
                hint="point KERNELWRIGHT_CACHE or TMPDIR to a folder that may be written",
            ) from problem

    def prune(self) -> int:
        """Remove the longest unused entries of a cache that is too large; how many went.

        Entries used within the hour stay: someone may be about to open them.
        """
        aged = sorted(_aged(self.folder))
        total = sum(size for _, size, _ in aged)
        removed = 0
        for modified, size, home in aged:
            if total <= self.largest_bytes or time.time() - modified < _YOUNG_S:
                break
            shutil.rmtree(home, ignore_errors=True)
            total -= size
            removed += 1
        for place in self.folder.glob("??/*"):
            if place.is_symlink() and not place.exists():
                place.unlink(missing_ok=True)
        return removed


def _place(folder: Path, name: str) -> Path:
    return folder / name[:2] / name[2:]


def _entry(place: Path, file: str) -> Entry | None:
    """What the link leads to, if that is sound."""
    try:
        home = Path(os.path.normpath(place.parent / place.readlink()))
    except OSError:
        return None
    try:
        facts = json.loads((home / _FACTS).read_text(encoding="utf-8"))
        digest = hashlib.sha256((home / file).read_bytes()).hexdigest()
        sound = facts["sha256"] == digest
    except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
        sound = False
    except OSError:  # it may be sound, but cannot be had now
        return None
    if not sound:
        if home.exists():
            _log.warning("a damaged build was thrown away: %s", home)
            # No other entry has this home, so nothing else can go with it.
            shutil.rmtree(home, ignore_errors=True)
        return None
    with contextlib.suppress(OSError):  # only its age would not be renewed
        os.utime(home)
    return Entry(home / file, facts)


def _put(folder: Path, name: str, library: bytes, facts: dict[str, Any], file: str) -> Entry:
    place = _place(folder, name)
    place.parent.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="entry-", dir=folder))
    try:
        (home / file).write_bytes(library)
        (home / file).chmod(0o555)
        (home / _FACTS).write_text(json.dumps(facts), encoding="utf-8")
        home.chmod(0o755)
        known = _named(place, home, file)
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise
    if known is not None:
        shutil.rmtree(home, ignore_errors=True)
    return known or Entry(home / file, facts)


def _named(place: Path, home: Path, file: str) -> Entry | None:
    """Let the link lead to ``home``, unless it leads to a sound entry: then that one."""
    target = os.path.relpath(home, place.parent)
    try:
        place.symlink_to(target)
    except FileExistsError:
        if known := _entry(place, file):
            return known
        fresh = home.with_name(f"link-{home.name}")
        fresh.symlink_to(target)
        fresh.replace(place)
    return None


def _aged(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """When each entry was last used, its bytes, its home."""
    for home in folder.glob("entry-*"):
        with contextlib.suppress(OSError):
            size = sum(file.stat().st_size for file in home.iterdir())
            yield home.stat().st_mtime, size, home


@cache
def _tell(folder: Path, reason: str) -> None:
    """Once a process: the next builds will meet the same."""
    _log.warning("builds are kept for this process only: %s: %s", folder, reason)


_puts = itertools.count(1)
_spares: list[Path] = []
"""The private folder, once there is one."""


def _spare() -> Path:
    if not _spares:
        _spares.append(scratch("builds"))
        atexit.register(shutil.rmtree, _spares[0], ignore_errors=True)
    return _spares[0]


@cache
def _usable(folder: Path) -> Path:
    builds = folder / "builds"
    try:
        builds.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = builds.stat()
        if status.st_uid != os.geteuid() or status.st_mode & 0o022:
            reason = "others could write to it"
        elif not os.access(builds, os.W_OK | os.X_OK):
            reason = "it is read-only"
        else:
            return builds
    except OSError as problem:
        reason = problem.strerror or str(problem)
    _log.warning("builds are not kept: %s cannot be used (%s)", builds, reason)
    return _spare()
