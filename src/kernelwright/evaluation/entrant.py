"""Somebody who competes: a built candidate, and how it gets processes of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kernelwright.checks.finding import Rejected
from kernelwright.evaluation.trial import LEAST_DEADLINE
from kernelwright.evaluation.worker import Worker


@dataclass(frozen=True)
class Entrant:
    """One built candidate."""

    load: dict[str, Any]
    """What a worker is told to load."""
    start: Callable[[], Worker]
    """Gives a fresh confined worker, ready."""
    noop_us: float
    """What calling a kernel that does nothing costs in this kind of worker."""

    def settle(self) -> Worker:
        """A fresh worker in which the candidate is loaded.

        Raises:
            Rejected: it cannot be loaded again.
        """
        worker = self.start()
        try:
            worker.load(self.load, LEAST_DEADLINE)
        except Rejected:
            worker.close()
            raise
        return worker
