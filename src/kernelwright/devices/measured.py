"""Peaks of this processor, measured: bandwidth, multiply-add rate, the cache in effect.

A virtual machine may report a cache it does not have, so the cache is measured, up to the size
reported: the least write after which a copy is as slow as after a very large one. What was found
is kept in a file for a quarter of an hour, by processor and number of threads, for sessions that
follow one another; the file is a cache, not state. What others may have slowed, or a kernel has
exceeded, is measured again by the next session, and the better of the two counts.
"""

import contextlib
import ctypes
import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.devices import detect
from kernelwright.records.conditions import Conditions

MIB = 1 << 20
RECENT_SECONDS = 900
SMALL_BYTES = MIB
LEAST_READS = 200
READ_SECONDS = 0.1
"""Who is disturbed in all reads would take honest kernels for impossible ones."""
WRITES_MIB = (1, 2, 4, 8, 16, 32, 64)
MOST_CACHE = 64 * MIB
QUIET_CORES = 0.1
"""Cores that others may use while peaks are measured."""
QUIET_STEAL = 0.05
"""Share of the time that a host may take away meanwhile."""
EXCEEDED = 1.05
"""Fraction of a roof above which its peaks are doubted."""
_ABSURD = 1e15
"""No machine has so many bytes, or operations, of anything that is kept."""
SETTLED = 0.75
"""A copy counts as evicted when it has lost this share of what it can lose."""


@dataclass(frozen=True)
class Peaks:
    """What the processor can do at most with a given number of threads."""

    warm_read_gbps: float
    """Reading what the nearer caches hold again and again: 1 MiB, or half of one for each core."""
    rate_gflops: float
    """Multiply-adds in float32, two operations each, 10^9 a second."""
    flush_bytes: int
    """What to write so that nothing useful is left in the caches."""
    copy_gbps: float = 0.0
    """Copying, bytes read and written, 10^9 bytes a second, timed as a candidate is."""
    read_gbps: float = 0.0
    """Reading, timed as a candidate is."""
    settled: bool = True
    """Whether nothing speaks against it: nobody else was at work, no kernel exceeded it."""

    def best(self, other: "Peaks | None") -> "Peaks":
        """The better of two measurements, peak by peak; settled as this one is."""
        if other is None:
            return self
        mine, theirs = asdict(self), asdict(other)
        return replace(
            Peaks(**{name: max(mine[name], theirs[name]) for name in mine}), settled=self.settled
        )

    @property
    def fastest_gbps(self) -> float:
        """The fastest that bytes were seen to move, in any way."""
        return max(self.warm_read_gbps, self.copy_gbps, self.read_gbps)

    @property
    def cache_bytes(self) -> int:
        """What the last cache holds in effect."""
        return self.flush_bytes // 2


def measure(library: Path) -> Peaks:
    """Measure now what needs no judge, with as many threads as OpenMP uses in this process.

    Args:
        library: ``peaks.cpp``, built by the toolchain of the session.
    """
    code = ctypes.CDLL(os.fspath(library))
    for name in ("read_seconds", "rate_seconds"):
        getattr(code, name).restype = ctypes.c_double
    code.lanes.restype = ctypes.c_int64
    sizes = {SMALL_BYTES, max(SMALL_BYTES, detect.cores() * SMALL_BYTES // 2)}
    return Peaks(
        warm_read_gbps=max(_warm_read(code, nbytes) for nbytes in sizes),
        rate_gflops=_rate(code),
        flush_bytes=2 * min(_cache(), detect.last_level_cache() or MOST_CACHE),
    )


def keep(found: Peaks, threads: int, folder: Path) -> None:
    """Keep a measurement for :func:`recent`; an unwritable folder is no fault."""
    path = _path(threads, folder)
    draft = path.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(asdict(found)))
        draft.replace(path)


def recent(threads: int, folder: Path) -> Peaks | None:
    """What was measured within the last minutes, for a session that follows another."""
    path = _path(threads, folder)
    try:
        if time.time() - path.stat().st_mtime > RECENT_SECONDS:
            return None
        kept = Peaks(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    sound = all(isinstance(one, int | float) and 0 <= one < _ABSURD for one in vars(kept).values())
    return kept if sound else None


def doubt(threads: int, folder: Path) -> None:
    """Let the next session measure again."""
    if known := recent(threads, folder):
        keep(replace(known, settled=False), threads, folder)


def quiet(conditions: Conditions) -> bool:
    """Whether others left the cores alone; so it is taken where the system does not tell."""
    return (conditions.others or 0.0) <= QUIET_CORES and (conditions.steal or 0.0) <= QUIET_STEAL


def _path(threads: int, folder: Path) -> Path:
    name = f"{detect.processor()}-{detect.cores()}-{threads}".replace("/", "_").replace(" ", "_")
    return folder / f"{name}.json"


def _warm_read(code: Any, nbytes: int) -> float:
    """The best of many reads of so many bytes, over several turns of a scheduler."""
    buffer, total = _buffer(nbytes), ctypes.c_float()
    source, began, reads = ctypes.c_void_p(buffer.ctypes.data), time.monotonic(), list[float]()
    while len(reads) < LEAST_READS or time.monotonic() - began < READ_SECONDS:
        reads.append(code.read_seconds(source, ctypes.c_int64(nbytes), ctypes.byref(total)))
    return nbytes / min(reads) / 1e9


def _rate(code: Any) -> float:
    rounds, sink, threads = 400_000, ctypes.c_float(), ctypes.c_int()
    best = 0.0
    for _ in range(4):
        spent = code.rate_seconds(ctypes.c_int64(rounds), ctypes.byref(sink), ctypes.byref(threads))
        operations = 2 * 12 * rounds * int(code.lanes()) * threads.value
        best = max(best, operations / spent / 1e9)
    return best


def _cache() -> int:
    """Bytes of the smallest write after which a copy of a small buffer stops slowing."""
    small, copy = _buffer(), _buffer()
    spoil = np.ones(WRITES_MIB[-1] * MIB // 8, np.uint64)
    times = []
    for mib in (0, *WRITES_MIB):
        part = spoil[: mib * MIB // 8]
        tries = []
        for _ in range(11):
            np.copyto(copy, small)
            part += np.uint64(1)
            start = time.perf_counter()
            np.copyto(copy, small)
            tries.append(time.perf_counter() - start)
        times.append(sorted(tries)[2])
    warm, cold = times[0], max(times)
    enough = warm + SETTLED * (cold - warm)
    return next(mib * MIB for mib, t in zip(WRITES_MIB, times[1:], strict=True) if t >= enough)


def _buffer(nbytes: int = SMALL_BYTES) -> NDArray[np.uint8]:
    skipped = np.ones(nbytes + 4096, dtype=np.uint8)
    return skipped[-skipped.ctypes.data % 4096 :][:nbytes]
