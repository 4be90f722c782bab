"""What a run tells whoever watches it; refuses to influence the run in any way.

Subclass :class:`Observer` and override what you draw. Every method is called from the thread
that runs the search, after the store has committed what is reported. During a resume the stored
history is fed silently: the first calls are ``opening`` and ``session``.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Session
from kernelwright.records.run import Budget, Run, Spent
from kernelwright.records.rung import Rung
from kernelwright.records.task import Task

if TYPE_CHECKING:
    from kernelwright.search.summary import RunSummary


@dataclass(frozen=True)
class Progress:
    """Where a run stands."""

    spent: Spent
    budget: Budget
    """What was given, with what was added since."""
    in_flight: int
    drafted: int
    """Candidates proposed so far."""
    leader: Evaluation | None
    """What the full rung said of who leads; not yet confirmed."""
    leading: Candidate | None = None
    """Who leads: the highest lower end, with what several workloads say of it weighed."""


class Observer:
    """Callbacks with empty bodies: override those you need."""

    def opening(self, task: Task) -> None:
        """The executor is about to be opened, which times the baselines."""

    def session(self, run: Run, session: Session, progress: Progress) -> None:
        """The executor is open and the baselines are timed."""

    def dispatched(self, candidate: Candidate, rung: Rung) -> None:
        """A job was sent to the executor."""

    def drafted(self, candidate: Candidate, evaluation: Evaluation) -> None:
        """A candidate was built, or could not be."""

    def evaluated(self, candidate: Candidate, evaluation: Evaluation, progress: Progress) -> None:
        """A look at any rung above draft ended, or was copied from a twin's."""

    def promoted(self, candidate: Candidate, rung: Rung) -> None:
        """A candidate goes up to ``rung`` (screen, full or confirm)."""

    def champion(self, candidate: Candidate, evaluation: Evaluation, speedup: float) -> None:
        """A candidate leads at the full rung; ``speedup`` is over the strongest baseline."""

    def stopped(self, summary: "RunSummary") -> None:
        """The run ended: the summary says how, also when interrupted."""
