"""Whether one more job may begin; refuses whatever could break a hard limit.

A limit counts what is spent, what is in flight, the job itself, and what is needed afterwards to
end with a confirmed number: a search that spends everything before its confirm has found nothing.
"""

from collections.abc import Collection, Sequence

from kernelwright.budget.ledger import Ledger
from kernelwright.records.run import Budget
from kernelwright.records.rung import Rung

MOST_RESERVED = 0.5
"""Share of the wall budget that may be set aside: a short run must be able to begin.

Once somebody can be confirmed, more may be, as far as the confirm is expected to take it.
"""


def added(budget: Budget, more: Budget) -> Budget:
    """A budget with more given; what has no limit keeps none."""
    minutes, evaluations = budget.minutes, budget.evaluations
    return Budget(
        minutes=None if minutes is None else minutes + (more.minutes or 0.0),
        evaluations=None if evaluations is None else evaluations + (more.evaluations or 0),
    )


class Limits:
    """The budget of a run, asked before every dispatch."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._looks_refused = False
        """Whether it was the number of looks that refused the latest job that was refused."""

    @property
    def wall_s(self) -> float | None:
        """Most wall seconds."""
        return None if self.budget.minutes is None else self.budget.minutes * 60

    @property
    def evaluations(self) -> int | None:
        """Most looks."""
        return self.budget.evaluations

    def add(self, more: Budget) -> None:
        """More is given; what was spent stays spent."""
        self.budget = added(self.budget, more)

    def allows(
        self, rung: Rung, ledger: Ledger, afterwards: Sequence[Rung], *, led: bool = False
    ) -> bool:
        """Whether a job of that rung may begin now.

        Args:
            rung: the job's.
            ledger: the books.
            afterwards: rungs that must still be affordable once this job is done.
            led: whether there is somebody to confirm already.
        """
        looks = self._looks_left(rung, ledger, afterwards)
        allowed = looks and self._time_left(rung, ledger, afterwards, led=led)
        if not allowed:
            self._looks_refused = not looks
        return allowed

    def allows_last(self, ledger: Ledger) -> bool:
        """Whether a confirm may begin: its time was kept, the deadline ends the rest."""
        return self._looks_left(Rung.CONFIRM, ledger, ()) and not self.past_deadline(ledger.wall_s)

    def refusal(self, ledger: Ledger, rungs: Collection[Rung], unrun: Collection[str]) -> str:
        """Which limit lets nothing more begin, and what was left undone, one sentence.

        Args:
            ledger: the books.
            rungs: those of the run; a confirmed number takes a look at each, but for the draft.
            unrun: candidates that were built and never run.
        """
        least, waiting = len(rungs) - 1, len(unrun)
        if self.evaluations is not None and self.evaluations < least:
            return f"the budget is too small: a confirmed number takes {least} evaluations"
        if not ledger.wall_s:
            return "the time is too short to begin"
        who = f"{waiting} candidate{'s' if waiting > 1 else ''}"
        undone = f"; {who} built, and never run" if waiting else ""
        return self._spent(ledger) + undone

    def _spent(self, ledger: Ledger) -> str:
        if self._looks_refused and self.evaluations is not None:
            left, what = self.evaluations - ledger.evaluations, f"{self.evaluations} evaluations"
        elif self.wall_s is not None:
            left, what = int(self.wall_s - ledger.wall_s), f"{self.wall_s:.0f} s"
        else:
            return "the budget is spent"
        if left <= 0:
            return f"all {what} are spent"
        return f"{left} of {what} were left, too few for a look and the confirm after it"

    def past_deadline(self, wall_s: float) -> bool:
        """Whether the wall budget is over."""
        return self.wall_s is not None and wall_s >= self.wall_s

    def _looks_left(self, rung: Rung, ledger: Ledger, afterwards: Sequence[Rung]) -> bool:
        if self.evaluations is None:
            return True
        wanted = (rung > Rung.DRAFT) + len(afterwards)
        return ledger.evaluations + ledger.looks_in_flight() + wanted <= self.evaluations

    def _time_left(
        self, rung: Rung, ledger: Ledger, afterwards: Sequence[Rung], *, led: bool
    ) -> bool:
        if self.wall_s is None:
            return True
        reserve = sum(ledger.estimate(later) for later in afterwards)
        expected = sum(ledger.estimate(later, 1.0) for later in afterwards) if led else 0.0
        reserve = min(reserve, max(expected, MOST_RESERVED * self.wall_s))
        ends_s = ledger.wall_s + ledger.remaining_s() + ledger.estimate(rung)
        return ends_s + reserve <= self.wall_s
