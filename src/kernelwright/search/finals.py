"""The end of a run: which leaders are confirmed, and what the run may claim.

Only a confirmed number is reported. A leader that fails its confirm is dropped and the next one
is tried; one that passes without being faster is followed by a few others that looked faster. A
confirm that could tell nothing, on a machine too busy to measure, is made once more.
"""

from collections import Counter
from collections.abc import Callable, Iterable

from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Session
from kernelwright.records.run import Status
from kernelwright.search import score as scores

TRIES = 3
"""Leaders that may pass a confirm without being faster before the answer is no."""
HEARINGS = 2
"""Confirms of one candidate, where the first could tell nothing."""


class Finals:
    """Confirmed verdicts so far, and the question who is next."""

    def __init__(self, target: float | None) -> None:
        self._target = target
        self.session: Session | None = None
        self.verdicts: dict[str, Evaluation] = {}
        self._heard: Counter[str] = Counter()

    def add(self, evaluation: Evaluation) -> None:
        """A confirm came back."""
        self.verdicts[evaluation.candidate] = evaluation
        self._heard[evaluation.candidate] += 1

    def is_dropped(self, candidate: str) -> bool:
        """Whether a leader failed its confirm."""
        verdict = self.verdicts.get(candidate)
        return verdict is not None and not verdict.passed

    def ends_search(self, evaluation: Evaluation) -> str:
        """Why the search need not go on if this evaluation is true; empty if it must."""
        session = self.session
        found = scores.score(evaluation)
        if session is None or found is None:
            return ""
        if self._target is not None and found.speedup >= self._target:
            return f"the target of {self._target:g}x is reached"
        if scores.at_the_roof(evaluation, session):
            return "no more than 5 % are left to the roofline"
        return ""

    def next(self, leaders: Iterable[str], looked_faster: Callable[[str], bool]) -> str | None:
        """Whom to confirm at the end, best first; None when nothing more is to be confirmed.

        Args:
            leaders: candidates that passed the full rung, best first.
            looked_faster: whether the full rung's interval lay above the baseline.
        """
        slow = 0
        for leader in leaders:
            verdict = self.verdicts.get(leader)
            if verdict is None:
                return leader if slow == 0 or looked_faster(leader) else None
            if verdict.passed:
                if self._improves(verdict):
                    return None
                if scores.told_nothing(verdict) and self._heard[leader] < HEARINGS:
                    return leader
                slow += 1
                if slow >= TRIES:
                    return None
        return None

    def best(self) -> Evaluation | None:
        """The best confirmed evaluation, faster or not, by the baselines that all of them met."""
        if self.session is None:
            return None
        passed = [verdict for verdict in self.verdicts.values() if verdict.comparisons]
        compared = [{one.baseline for one in verdict.comparisons} for verdict in passed]
        common = set.intersection(*compared) if compared else set()
        scored = [
            (found.value, verdict.candidate, verdict)
            for verdict in passed
            if (found := scores.score(verdict, common)) is not None
        ]
        return max(scored, key=lambda item: item[:2])[2] if scored else None

    def status(self, *, budget_ended: bool) -> Status:
        """How the run ends."""
        best = self.best()
        if best is not None and self.session is not None:
            if scores.at_the_roof(best, self.session):
                return "nothing_left_to_win"
            if self._improves(best):
                return "improved"
        if budget_ended and not self.verdicts:
            return "budget"
        return "no_improvement"

    def _improves(self, verdict: Evaluation) -> bool:
        return scores.is_improvement(verdict)
