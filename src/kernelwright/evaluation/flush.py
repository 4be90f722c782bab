"""Empty the caches between blocks, from every core that the kernels use."""

import os
import threading

import numpy as np


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
        """Write once; returns when every core has."""
        self._start.wait()
        self._done.wait()

    def _serve(self, core: int, part: "np.ndarray[tuple[int], np.dtype[np.uint64]]") -> None:
        os.sched_setaffinity(0, {core})
        while True:
            self._start.wait()
            np.add(part, np.uint64(1), out=part)
            self._done.wait()
