"""Built libraries by content: equal source, values, flags, compiler and processor, one build.

Entries are folders that appear whole or not at all (a rename), are never changed, and carry the
hash of their library: a damaged one is thrown away. Several processes may share a cache.
"""

import atexit
import contextlib
import hashlib
import json
import logging
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

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
            to it, a private temporary folder serves until this process ends.
        largest_bytes: when the entries outgrow this, the longest unused go.
        file: what a built library is called in its entry.
    """

    def __init__(
        self, folder: Path, largest_bytes: int = LARGEST_BYTES, file: str = "kernel.so"
    ) -> None:
        self.folder = _usable(folder)
        self.largest_bytes = largest_bytes
        self._file = file
        self._puts = 0

    def get(self, name: str) -> Entry | None:
        """The entry of that key, or None; a damaged one is removed."""
        place = self._place(name)
        try:
            facts = json.loads((place / _FACTS).read_text(encoding="utf-8"))
            data = (place / self._file).read_bytes()
            sound = facts["sha256"] == hashlib.sha256(data).hexdigest()
        except FileNotFoundError:
            sound = not place.exists()
            facts = None
        except (OSError, ValueError, KeyError, TypeError):
            sound = False
        if not sound:
            _log.warning("a damaged build was thrown away: %s", place)
            self._remove(place)
            return None
        if facts is None:
            return None
        with contextlib.suppress(OSError):  # only its age would not be renewed
            os.utime(place)
        return Entry(place / self._file, facts)

    def put(self, name: str, library: bytes, facts: dict[str, Any]) -> Entry:
        """Keep a build; if another process was faster, its entry is returned.

        Raises:
            OSError: the disk is full, or the folder has vanished.
        """
        place = self._place(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        facts = {**facts, "sha256": hashlib.sha256(library).hexdigest()}
        fresh = Path(tempfile.mkdtemp(prefix="new-", dir=self.folder))
        try:
            (fresh / self._file).write_bytes(library)
            (fresh / self._file).chmod(0o555)
            (fresh / _FACTS).write_text(json.dumps(facts), encoding="utf-8")
            fresh.chmod(0o755)
            try:
                fresh.rename(place)
            except OSError:
                known = self.get(name)
                if known is not None:
                    return known
                fresh.rename(place)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        self._puts += 1
        if self._puts % 64 == 0:
            self.prune()
        return Entry(place / self._file, facts)

    def prune(self) -> int:
        """Remove the longest unused entries of a cache that is too large; how many went.

        Entries used within the hour stay: someone may be about to open them.
        """
        aged = []
        for place in self.folder.glob("??/*"):
            try:
                size = sum(file.stat().st_size for file in place.iterdir())
                aged.append((place.stat().st_mtime, size, place))
            except OSError:
                continue
        total = sum(size for _, size, _ in aged)
        removed = 0
        for modified, size, place in sorted(aged):
            if total <= self.largest_bytes or time.time() - modified < _YOUNG_S:
                break
            self._remove(place)
            total -= size
            removed += 1
        return removed

    def _place(self, name: str) -> Path:
        return self.folder / name[:2] / name[2:]

    def _remove(self, place: Path) -> None:
        grave = self.folder / f"old-{os.getpid()}-{time.monotonic_ns()}"
        try:
            place.rename(grave)
        except OSError:
            return  # another process was faster
        shutil.rmtree(grave, ignore_errors=True)


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
    private = Path(tempfile.mkdtemp(prefix="kernelwright-builds-"))
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    return private
