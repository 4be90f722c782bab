"""What else a machine does while something is measured on it: others' work, steal, the clock.

Ours are the descendants of the process that measures; their time is subtracted from that of the
cores, and what is left was used by others. Refuses to judge whether that is too much, and to
guess: what cannot be read is None.
"""

import os
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from kernelwright.records.conditions import Conditions

BEFORE_S = 0.25
"""How long to look at an idle judge, where it is to be known what others do without it."""
_PARENT, _TIMES = 1, slice(11, 15)
"""Places in ``/proc/PID/stat`` after the name; times are two of its own, then two of those of its
children that were waited for."""


@dataclass(frozen=True)
class Reading:
    """Seconds counted since the machine started, of the cores that this process may use."""

    at_s: float
    busy_s: float | None
    stolen_s: float
    ours_s: float | None


class Watch:
    """Begins now; asked for the conditions once the measurement is over.

    Args:
        before_s: how long to look before the measurement, nothing of ours being at work.
        proc: where the system tells of processes.
        system: where it tells of cores.
    """

    def __init__(
        self,
        before_s: float = 0.0,
        *,
        proc: Path = Path("/proc"),
        system: Path = Path("/sys/devices/system/cpu"),
    ) -> None:
        self._proc, self._system = proc, system
        self._load = os.getloadavg()[0]
        self._clock = self._mhz()
        self._before: float | None = None
        self._begin = self._read()
        if before_s:
            time.sleep(before_s)
            first, self._begin = self._begin, self._read()
            self._before = _others(first, self._begin)

    def conditions(self) -> Conditions:
        """What the machine did since."""
        began, now, clock = self._begin, self._read(), self._mhz()
        seconds = now.at_s - began.at_s
        cores = len(os.sched_getaffinity(0))
        steal = (now.stolen_s - began.stolen_s) / (cores * seconds) if seconds else 0.0
        return Conditions(
            seconds=seconds,
            load_before=self._load,
            load_after=os.getloadavg()[0],
            others_before=self._before,
            others=_others(began, now),
            steal=min(max(steal, 0.0), 1.0) if now.busy_s is not None else None,
            clock_mhz=(self._clock, clock) if self._clock and clock else None,
            governor=_text(self._system / "cpu0/cpufreq/scaling_governor"),
        )

    def _read(self) -> Reading:
        tick_s = 1 / os.sysconf("SC_CLK_TCK")
        names = {f"cpu{number}" for number in os.sched_getaffinity(0)}
        busy = stolen = 0
        found = False
        for line in _text(self._proc / "stat").splitlines():
            name, *words = line.split()
            if name in names and len(words) >= 8:
                user, nice, system, _idle, _waiting, irq, softirq, steal = map(int, words[:8])
                busy, stolen = busy + user + nice + system + irq + softirq, stolen + steal
                found = True
        ours = self._ours()
        return Reading(
            at_s=time.monotonic(),
            busy_s=busy * tick_s if found else None,
            stolen_s=stolen * tick_s,
            ours_s=None if ours is None else ours * tick_s,
        )

    def _ours(self) -> int | None:
        """Ticks that this process and its descendants used, those that have ended included."""
        children: dict[int, list[int]] = {}
        used: dict[int, int] = {}
        for path in self._proc.glob("[0-9]*/stat"):
            words = _text(path).rpartition(")")[2].split()
            if len(words) > _TIMES.stop:
                pid = int(path.parent.name)
                children.setdefault(int(words[_PARENT]), []).append(pid)
                used[pid] = sum(map(int, words[_TIMES]))
        if os.getpid() not in used:
            return None
        ours, total = [os.getpid()], 0
        while ours:
            pid = ours.pop()
            total += used[pid]
            ours += children.get(pid, ())
        return total

    def _mhz(self) -> float:
        """Median clock; 0 if it cannot be read."""
        paths = self._system.glob("cpu[0-9]*/cpufreq/scaling_cur_freq")
        found = [int(text) / 1e3 for text in map(_text, paths) if text.isdecimal()]
        if not found:
            lines = _text(self._proc / "cpuinfo").splitlines()
            words = [line.partition(":")[2] for line in lines if line.startswith("cpu MHz")]
            found = [float(word) for word in words]
        return statistics.median(found) if found else 0.0


def _others(first: Reading, last: Reading) -> float | None:
    """Cores that were busy with what is not ours."""
    busy = (first.busy_s, last.busy_s, first.ours_s, last.ours_s)
    seconds = last.at_s - first.at_s
    if None in busy or not seconds:
        return None
    cores_s = (last.busy_s or 0.0) - (first.busy_s or 0.0)
    ours_s = (last.ours_s or 0.0) - (first.ours_s or 0.0)
    return max(0.0, cores_s - ours_s) / seconds


def _text(path: Path) -> str:
    """What a file of the system says; empty where it cannot be read, or is gone."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
