"""Peaks of this processor, measured: copy bandwidth, multiply-add rate, the cache in effect.

A virtual machine may report a cache it does not have, so the cache is measured, up to the size
reported: the least write after which a copy is as slow as after a very large one. Results are
kept in a file for a week, by processor and number of threads; the file is a cache, not state.
"""

import ctypes
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.devices import detect

MIB = 1 << 20
KEEP_SECONDS = 7 * 24 * 3600
COPY_BYTES = 64 * MIB
SMALL_BYTES = MIB
WRITES_MIB = (1, 2, 4, 8, 16, 32, 64)
MOST_CACHE = 64 * MIB
SETTLED = 0.75
"""A copy counts as evicted when it has lost this share of what it can lose."""


@dataclass(frozen=True)
class Peaks:
    """What the processor can do at most with a given number of threads."""

    bandwidth_gbps: float
    """Copy of 64 MiB, bytes read and written, 10^9 bytes a second; the best of several ways."""
    warm_read_gbps: float
    """Reading 1 MiB again and again."""
    rate_gflops: float
    """Multiply-adds in float32, two operations each, 10^9 a second."""
    flush_bytes: int
    """What to write so that nothing useful is left in the caches."""


def peaks(library: Path, threads: int, folder: Path) -> Peaks:
    """The best seen within a week, this session's measurement (about half a second) included.

    A busy machine can only look worse than it is, so the best is the nearest to the truth.

    Args:
        library: ``peaks.cpp`` built by the toolchain of the session.
        threads: what OpenMP uses in this process.
        folder: where results are kept; unwritable is no fault.
    """
    name = f"{detect.processor()}-{detect.cores()}-{threads}".replace("/", "_").replace(" ", "_")
    path = folder / f"{name}.json"
    found, known = measure(library), _read(path)
    if known is not None:
        found = Peaks(
            bandwidth_gbps=max(found.bandwidth_gbps, known.bandwidth_gbps),
            warm_read_gbps=max(found.warm_read_gbps, known.warm_read_gbps),
            rate_gflops=max(found.rate_gflops, known.rate_gflops),
            flush_bytes=min(found.flush_bytes, known.flush_bytes),
        )
    _write(path, found)
    return found


def measure(library: Path) -> Peaks:
    """Measure now, with as many threads as OpenMP uses in this process."""
    code = ctypes.CDLL(os.fspath(library))
    for name in ("copy_seconds", "read_seconds", "rate_seconds"):
        getattr(code, name).restype = ctypes.c_double
    code.lanes.restype = ctypes.c_int64
    source, target = _buffer(COPY_BYTES), _buffer(COPY_BYTES)
    source[:] = 1
    target[:] = 2
    copies = [
        code.copy_seconds(_at(source), _at(target), ctypes.c_int64(COPY_BYTES), kind)
        for _ in range(5)
        for kind in (0, 1, 2)
    ]
    total = ctypes.c_float()
    reads = [
        code.read_seconds(_at(source), ctypes.c_int64(SMALL_BYTES), ctypes.byref(total))
        for _ in range(200)
    ]
    return Peaks(
        bandwidth_gbps=2 * COPY_BYTES / min(copies) / 1e9,
        warm_read_gbps=SMALL_BYTES / min(reads) / 1e9,
        rate_gflops=_rate(code),
        flush_bytes=2 * min(_cache(source, target), detect.last_level_cache() or MOST_CACHE),
    )


def _rate(code: Any) -> float:
    rounds, sink, threads = 400_000, ctypes.c_float(), ctypes.c_int()
    best = 0.0
    for _ in range(4):
        spent = code.rate_seconds(ctypes.c_int64(rounds), ctypes.byref(sink), ctypes.byref(threads))
        operations = 2 * 12 * rounds * int(code.lanes()) * threads.value
        best = max(best, operations / spent / 1e9)
    return best


def _cache(source: NDArray[np.uint8], target: NDArray[np.uint8]) -> int:
    """Bytes of the smallest write after which a copy of a small buffer stops slowing."""
    small, copy = source[:SMALL_BYTES], target[:SMALL_BYTES]
    spoil = _buffer(WRITES_MIB[-1] * MIB).view(np.uint64)
    spoil[:] = 1
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


def _buffer(size: int) -> NDArray[np.uint8]:
    raw = np.empty(size + 4096, dtype=np.uint8)
    skip = -raw.ctypes.data % 4096
    return raw[skip : skip + size]


def _at(buffer: NDArray[np.uint8]) -> ctypes.c_void_p:
    return ctypes.c_void_p(buffer.ctypes.data)


def _read(path: Path) -> Peaks | None:
    try:
        if time.time() - path.stat().st_mtime > KEEP_SECONDS:
            return None
        return Peaks(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _write(path: Path, found: Peaks) -> None:
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(asdict(found)))
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True) if path.parent.exists() else None
