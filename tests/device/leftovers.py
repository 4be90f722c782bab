"""What work leaves behind: processes, wherever they went, and temporary files."""

from __future__ import annotations

import ctypes
import os
import time
from pathlib import Path

SUBREAPER = 36


class Leftovers:
    """Adopts every orphan of this process, so that none can hide."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.before = descendants(os.getpid())

    def __enter__(self) -> Leftovers:
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
        return self

    def __exit__(self, *_: object) -> None:
        ctypes.CDLL(None).prctl(SUBREAPER, 0, 0, 0, 0)

    def found(self, patience: float = 5.0) -> list[str]:
        """Processes and files; those that are just going are waited for."""
        deadline = time.monotonic() + patience
        while (left := self._now()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return left

    def _now(self) -> list[str]:
        processes = [describe(one) for one in descendants(os.getpid()) - self.before]
        return [*filter(None, processes), *(path.name for path in self.folder.iterdir())]


def descendants(root: int) -> set[int]:
    """Processes below one, by their parents."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    found = {root}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {root}


def describe(pid: int) -> str:
    """The command of a process; empty if it has ended."""
    try:
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
            os.waitpid(pid, os.WNOHANG)
            return ""
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip() or f"[{pid}]"
    except OSError:
        return ""
