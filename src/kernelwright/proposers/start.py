"""The user's own kernels: judged as they are, and then a structure like any other.

Refuses to change them; the tuner takes over once they have passed the screen.
"""

from collections.abc import Sequence

from kernelwright.proposers.base import Context
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation


class Start:
    """Proposes the context's start candidates in the order given."""

    coarse = True

    def __init__(self, context: Context) -> None:
        self._remaining = iter(context.start)

    def ask(self, parents: Sequence[Candidate]) -> Candidate | None:
        """The next file, or None when every one was proposed."""
        return next(self._remaining, None)

    def tell(self, candidate: Candidate, evaluation: Evaluation) -> None:
        """Nothing: the list is fixed."""
