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
        with of_the_task(self._rivals, self._name):
            super().ready()

    def block(self) -> float:
        """As for any side.

        Raises:
            TaskError: the baseline, which is the task's own code, broke.
            JudgeError: its process answered another question than was asked.
        """
        with of_the_task(self._rivals, self._name):
            return super().block()


@contextmanager
def of_the_task(rivals: Rivals, name: str) -> Iterator[None]:
    """What breaks in the body is the baseline's, and the candidate that meets it is not judged.

    Raises:
        TaskError: the baseline, which is the task's own code, broke.
        JudgeError: its process answered another question than was asked.
    """
    try:
        yield
    except Rejected as rejection:
        rivals.drop(name)
        raise broken(rejection.finding) from rejection


def broken(finding: Finding) -> TaskError | JudgeError:
    """What the failure of a baseline, which ran before, means."""
    if finding.outcome is Outcome.TAMPERING:
        return JudgeError(finding.reason)
    hint = "a baseline must not fail after it was timed; run the reference by itself"
    return TaskError(finding.reason, hint)
