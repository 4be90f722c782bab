"""Empty the caches between blocks, from every core that the kernels use."""

import contextlib
import os
import threading

import numpy as np

from kernelwright.errors import JudgeError

PATIENCE_SECONDS = 60.0
"""A write takes milliseconds; a core that was taken away never answers."""


class Flush:
    """Writes ``nbytes`` from ``threads`` threads, each on a core of its own.

    Args:
        nbytes: what must be written so that nothing useful stays in the caches.
        threads: how many cores to visit.
    """

    def __init__(self, nbytes: int, threads: int) -> None:
        cores = sorted(os.sched_getaffinity(0))[:threads]
        share = max(nbytes // (8 * len(cores)), 1)
        self._parts = [np.zeros(share, np.uint64) for _ in cores]
        self._start = threading.Barrier(len(cores) + 1)
        self._done = threading.Barrier(len(cores) + 1)
        for core, part in zip(cores, self._parts, strict=True):
            threading.Thread(target=self._serve, args=(core, part), daemon=True).start()

    def __call__(self) -> None:
        """Write once; returns when every core has.

        Raises:
            JudgeError: one of them does not.
        """
        try:
            self._start.wait(PATIENCE_SECONDS)
            self._done.wait(PATIENCE_SECONDS)
        except threading.BrokenBarrierError as problem:
            raise JudgeError(
                f"the caches could not be emptied from every core in {PATIENCE_SECONDS:g} s",
                hint="do not take cores away from a process that measures",
            ) from problem

    def _serve(self, core: int, part: "np.ndarray[tuple[int], np.dtype[np.uint64]]") -> None:
        with contextlib.suppress(OSError):  # a core that is gone: then from any other
            os.sched_setaffinity(0, {core})
        with contextlib.suppress(threading.BrokenBarrierError):
            while True:
                self._start.wait()
                np.add(part, np.uint64(1), out=part)
                self._done.wait()
