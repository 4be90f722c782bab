"""What every rule for choosing parents offers; a rule reads no clock and no other source of chance.

The search tells a rule of every passed look, asks it for an order of parents, and reports which
of them a proposer used. Given the same calls and seed, a rule gives the same answers.
"""

from collections.abc import Sequence
from typing import Protocol

from kernelwright.records.candidate import Candidate
from kernelwright.records.rung import Rung


class Parents(Protocol):
    """One rule; built with the run's seed."""

    def tell(self, candidate: Candidate, rung: Rung, score: float) -> None:
        """A candidate passed a look with that score (logarithm of a speedup, higher is better)."""

    def order(self) -> Sequence[Candidate]:
        """Parents, the one to mutate first in front; empty while none has deserved it."""

    def used(self, parent: str) -> None:
        """A proposer mutated the parent of that id."""


def structure(candidate: Candidate) -> tuple[str, str]:
    """What stays when numbers change: language and source."""
    return candidate.language, candidate.source
