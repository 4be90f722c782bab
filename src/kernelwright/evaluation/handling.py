"""What a worker of a Python candidate does beside each call, measured where no candidate is.

Placing parameters, looking for threads, copying results to where they are judged: the verifier
sees it, the worker's clock does not. A fresh worker, in which nothing of anybody's is loaded, does
it on the same buffers. What it takes is granted to the candidate; more than that would hide work.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from kernelwright.checks.finding import Rejected
from kernelwright.evaluation.clocks import SLACK_US
from kernelwright.evaluation.report import Ran
from kernelwright.evaluation.ring import Ring

BLOCKS = 9
USUAL = 0.5
"""Quantile of the blocks: what a busy machine adds to most of them it adds to a candidate's too,
and what exceeds the grant is charged to the candidate."""
FACTOR = 1.5
LEAST_US = 20.0
"""A call is granted so much at least: what two blocks of the same differ by."""
UNKNOWN_US = 300.0
"""Where it could not be measured."""
SECONDS = 60.0


class Rehearsing(Protocol):
    """A worker that can call nothing as if it were a candidate."""

    def rehearse(self, model: dict[str, Any] | None, timeout: float) -> None:
        """Get ready to be bound without a candidate."""

    def bind(self, ring: Ring, timeout: float) -> None:
        """Prepare the calls of every slot."""

    def run(self, slots: list[int], timeout: float) -> Ran:
        """Call once for each slot."""

    def close(self) -> None:
        """End the process."""


class Handling:
    """Measures on the buffers that a candidate is about to be timed with.

    Args:
        start: gives a fresh worker, ready.
        model: how a model of the candidate's is called; None where the task takes none.
        flush: empties the caches, as it is done before each timed block.
    """

    def __init__(
        self,
        start: Callable[[], Rehearsing],
        model: dict[str, Any] | None,
        flush: Callable[[], None],
    ) -> None:
        self._start, self._model, self._flush = start, model, flush

    def __call__(self, ring: Ring) -> float:
        """Microseconds beside each call that the verifier may see on ``ring``."""
        try:
            return granted_us(self._excess(ring), ring.slots)
        except Rejected:
            return UNKNOWN_US

    def _excess(self, ring: Ring) -> list[float]:
        worker = self._start()
        try:
            worker.rehearse(self._model, SECONDS)
            worker.bind(ring, SECONDS)
            return [self._block(worker, ring.slots) for _ in range(BLOCKS)]
        finally:
            worker.close()

    def _block(self, worker: Rehearsing, slots: int) -> float:
        self._flush()
        ran = worker.run(list(range(slots)), SECONDS)
        return (ran.wall_ns - sum(ran.ns)) / 1e3


def granted_us(excess: list[float], calls: int) -> float:
    """Microseconds a call, so that blocks of so many calls may take what they were seen to take.

    Args:
        excess: of each block, what the verifier saw beside its calls.
        calls: in each.
    """
    usual = FACTOR * float(np.quantile(excess, USUAL))
    return LEAST_US + max(usual - SLACK_US, 0.0) / calls
