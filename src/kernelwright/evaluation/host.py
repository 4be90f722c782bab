"""What the parts of an opening session may ask of the bench."""

from typing import Protocol

from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.ring import Ring
from kernelwright.evaluation.rivals import Rivals
from kernelwright.evaluation.sides import RingSide
from kernelwright.evaluation.worker import Worker
from kernelwright.records.task import Case


class Host(Protocol):
    """What is needed of the bench."""

    answers: Answers
    rivals: Rivals

    def ring(self, case: Case, owner: str = "candidate") -> Ring:
        """Buffers for timing."""

    def move(self, case: Case) -> None:
        """Buffers elsewhere."""

    def side(self, worker: Worker, ring: Ring, secret: int) -> RingSide:
        """A side for a trusted worker."""

    def rival_side(self, name: str, case: Case, secret: int) -> RingSide:
        """A side that runs a baseline."""
