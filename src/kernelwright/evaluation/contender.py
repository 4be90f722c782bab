"""Somebody who competes: a built candidate, and how it gets processes of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kernelwright.checks.finding import Rejected
from kernelwright.evaluation.trial import LEAST_DEADLINE
from kernelwright.evaluation.worker import Worker


@dataclass(frozen=True)
class Contender:
    """One candidate in the verifier's hands."""

    library: Path
    start: Callable[[], Worker]
    """Gives a fresh confined worker, ready."""

    def settle(self, entry: str) -> Worker:
        """A fresh worker in which the candidate is loaded.

        Raises:
            Rejected: it cannot be loaded again.
        """
        worker = self.start()
        try:
            worker.load({"library": str(self.library), "entry": entry}, LEAST_DEADLINE)
        except Rejected:
            worker.close()
            raise
        return worker
