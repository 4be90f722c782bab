"""The side of a baseline in a timed pair."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.errors import JudgeError, TaskError
from kernelwright.evaluation.rivals import Rivals
from kernelwright.evaluation.sides import RingSide
from kernelwright.records.outcome import Outcome


class RivalSide(RingSide):
    """A baseline's side: what breaks here is never the candidate's fault.

    Args:
        rivals: starts another process in the next comparison if this one breaks.
        name: of the baseline.
    """

    def __init__(self, *arguments: Any, rivals: Rivals, name: str) -> None:
        super().__init__(*arguments)
        self._rivals, self._name = rivals, name
        self.more = rivals.called(name)

    def ready(self) -> None:
        """As for any side; raises as :meth:`block` does."""
        with self._blamed():
            super().ready()

    def block(self) -> float:
        """As for any side.

        Raises:
            TaskError: the baseline, which is the task's own code, broke.
            JudgeError: its process answered another question than was asked.
        """
        with self._blamed():
            return super().block()

    @contextmanager
    def _blamed(self) -> Iterator[None]:
        try:
            yield
        except Rejected as rejection:
            self._rivals.drop(self._name)
            raise broken(rejection.finding) from rejection


def broken(finding: Finding) -> TaskError | JudgeError:
    """What the failure of a baseline, which ran before, means."""
    if finding.outcome is Outcome.TAMPERING:
        return JudgeError(finding.reason)
    hint = "a baseline must not fail after it was timed; run the reference by itself"
    return TaskError(finding.reason, hint)
