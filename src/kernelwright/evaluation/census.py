"""What the kernel says of a worker's process, asked from outside: no candidate can change it.

A worker confines itself by splitting in two (see ``jail/confine.py``): the process that was
started watches, its child runs the candidate. Everything here is about that child.
"""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kernelwright.checks.finding import Finding
from kernelwright.records.outcome import Outcome

PROC = Path("/proc")
_PROCESS_CLOCK = 2
"""``CPUCLOCK_SCHED`` of the kernel: nanoseconds of processor time of a whole process."""
_INTERNAL = 0b11 << 31
"""Signals 32 and 33, which the C library keeps for itself."""
_WATCHED = {"SigCgt": "signal handlers", "SigIgn": "ignored signals"}
"""Lines of ``/proc/PID/status`` that a kernel has no business to change."""


@dataclass(frozen=True)
class Manners:
    """Settings of a process that outlive a call and change what others see."""

    signals: tuple[int, ...]
    priority: int
    policy: int

    def changes(self, later: "Manners") -> list[str]:
        """What differs, in words."""
        found = [
            words
            for words, before, after in zip(
                _WATCHED.values(), self.signals, later.signals, strict=True
            )
            if before != after
        ]
        if self.priority != later.priority or self.policy != later.policy:
            found.append("scheduling priority")
        return found


class Census:
    """Looks at one worker.

    Args:
        started: identity of the process that was started.
    """

    def __init__(self, started: int) -> None:
        self.pid = _worker_of(started)
        self._started = started
        self._known = {self.pid, *_descendants(started)}

    def cpu_ns(self) -> int:
        """Processor time of all its threads up to now; 0 when it is gone."""
        try:
            return time.clock_gettime_ns((~self.pid << 3) | _PROCESS_CLOCK)
        except OSError:
            return 0

    def manners(self) -> Manners | None:
        """Its settings, or None when it is gone."""
        try:
            status = (PROC / str(self.pid) / "status").read_text()
            fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
            stat = (PROC / str(self.pid) / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return Manners(
            signals=tuple(int(fields[name], 16) & ~_INTERNAL for name in _WATCHED),
            priority=int(stat[16]),
            policy=int(stat[38]),
        )

    def filters(self) -> int:
        """How many filters of system calls each of its threads has at least; 0: not known."""
        found = []
        for task in (PROC / str(self.pid) / "task").iterdir():
            with contextlib.suppress(OSError):
                lines = (task / "status").read_text().splitlines()
                words = [line.split()[1] for line in lines if line.startswith("Seccomp_filters:")]
                found += [int(word) for word in words]
        return min(found, default=0)

    def children(self) -> list[int]:
        """Processes that it started and that still run, orphans included."""
        new = (pid for pid in _descendants(self._started) if pid not in self._known)
        return [pid for pid in new if _runs(pid)]

    def left(self, before: Manners | None, label: str) -> Finding | None:
        """What the process left behind, beside its own memory.

        Args:
            before: its settings before the candidate came.
            label: who it is.
        """
        if children := self.children():
            reason = f"{label} left {len(children)} processes running after a call"
            return Finding(Outcome.DEFERRED_WORK, reason, {"processes": len(children)})
        now = self.manners()
        changes = before.changes(now) if before and now else []
        if changes:
            reason = f"{label} left the process with other {', '.join(changes)}"
            return Finding(Outcome.STATE_MUTATED, reason, {"changed": changes})
        return None

    def code(self) -> str:
        """What it has mapped, as the kernel lists it; empty where the kernel does not tell."""
        try:
            return (PROC / str(self.pid) / "maps").read_text(errors="replace")
        except OSError:
            return ""


def _worker_of(started: int) -> int:
    """The child that runs the candidate: not the one that is first in its namespace."""
    children = list(_children(started))
    for child in children:
        with contextlib.suppress(OSError, StopIteration):
            status = (PROC / str(child) / "status").read_text().splitlines()
            inside = next(line for line in status if line.startswith("NSpid:")).split()[-1]
            if inside != "1":
                return child
    return started


def _descendants(pid: int) -> Iterator[int]:
    for child in _children(pid):
        yield child
        yield from _descendants(child)


def _children(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for task in (PROC / str(pid) / "task").iterdir():
            text = (task / "children").read_text()
            yield from (int(word) for word in text.split())


def _runs(pid: int) -> bool:
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")
