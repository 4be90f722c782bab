"""How two candidates did against each other, in the form that others rely on."""

import math
from collections.abc import Sequence
from typing import Self

from pydantic import BaseModel

from kernelwright.devices.disturbance import disturbance
from kernelwright.records.candidate import Value
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.measurement import Comparison
from kernelwright.records.outcome import Decision, Outcome
from kernelwright.records.sensitivity import Policy
from kernelwright.report import summary as report
from kernelwright.report import text
from kernelwright.timing.statistics import Interval, decide
from kernelwright.verbs import base
from kernelwright.verbs.entrants import Entrant, Match
from kernelwright.verbs.evaluation_answer import EvaluationAnswer
from kernelwright.verbs.rows import CandidateRow, CircumstancesRow

NOT_TIMED = "nothing was found; the other one was rejected before both were timed"


class SideRow(BaseModel):
    """One of the two."""

    origin: str
    candidate: CandidateRow
    strategy: str
    tunables: dict[str, Value]
    outcome: str
    reason: str
    tried: int
    """Points of its tunables that were looked at to choose the values; 0: they were given."""
    own_margin: float | None
    """How far it must differ from another to be called different from itself (A/A)."""


class DuelRow(BaseModel):
    """B against A on one workload."""

    workload: str
    a_us: float
    b_us: float
    ratio: float
    """A's time / B's time."""
    low: float
    high: float
    margin: float
    decision: str
    pairs: int

    @classmethod
    def of(cls, found: Comparison) -> "DuelRow":
        """The row of a record."""
        return cls(
            workload=found.workload,
            a_us=found.baseline_us,
            b_us=found.candidate_us,
            ratio=found.ratio,
            low=found.low,
            high=found.high,
            margin=found.margin,
            decision=found.decision.value,
            pairs=found.pairs,
        )


class OverallRow(BaseModel):
    """B against A on all workloads together."""

    ratio: float
    low: float
    high: float
    margin: float
    decision: str


class CompareAnswer(base.Answer):
    """How B does against A."""

    task: str
    rung: str
    a: SideRow
    b: SideRow
    overall: OverallRow | None
    """None where one of the two was rejected."""
    comparisons: tuple[DuelRow, ...]
    circumstances: CircumstancesRow | None
    """Of the look at B, which holds the comparison."""

    _looks: tuple[Evaluation, Evaluation]
    _match: Match
    _policy: Policy

    @classmethod
    def of(
        cls,
        match: Match,
        policy: Policy,
        rung: str,
        first: Evaluation,
        second: Evaluation,
        tried: tuple[int, int] = (0, 0),
    ) -> Self:
        """The answer that two looks give.

        Args:
            match: who met.
            policy: by which results were judged.
            rung: how closely they were looked at.
            first: what was found of A.
            second: what was found of B, and of A while both were timed.
            tried: points that were looked at to choose the values of each.
        """
        if second.evidence.get("side") == "rival":
            # It is the look at B, but what it found is A's.
            first, second = second, _unblamed(second)
        margins = second.evidence.get("own_margins", {})
        a, b = match.entrants
        answer = cls(
            task=match.task.name,
            rung=rung,
            a=_side(a, first, margins.get("rival"), tried[0]),
            b=_side(b, second, margins.get("candidate"), tried[1]),
            overall=overall(second.comparisons),
            comparisons=tuple(map(DuelRow.of, second.comparisons)),
            circumstances=CircumstancesRow.of(second),
        )
        answer._looks, answer._match, answer._policy = (first, second), match, policy
        return answer

    def exit_code(self) -> int:
        """3 when B is slower, or one of the two was rejected."""
        slower = self.overall is not None and self.overall.decision == Decision.SLOWER
        return 3 if slower or self.overall is None else 0

    def text(self) -> str:
        """Both sides, the comparison, what it was decided by; or what is wrong with them."""
        parts = [self._head()]
        if self.overall is None:
            for name, one, look in zip("AB", self._match.entrants, self._looks, strict=True):
                if not look.passed:
                    found = EvaluationAnswer.of(one.candidate, look, self._policy).text()
                    parts.append(f"{name} was rejected\n{text.indent(found)}")
        else:
            parts += [self._table(), self._decided(self.overall)]
        return "\n\n".join(parts)

    def notes(self) -> list[str]:
        """Whether the machine was busy."""
        found = disturbance(self._looks[1].conditions)
        return [f"hint: {found} meanwhile: compare again when it is quiet"] if found else []

    def _head(self) -> str:
        rows = [("task", self.task)]
        for name, one in zip("AB", self._match.entrants, strict=True):
            who = f"{report.strategy(one.candidate)} ({one.candidate.id})"
            tried = (self.a if name == "A" else self.b).tried
            best = f", the best of {tried} looked at" if tried else ""
            rows.append((name, f"{who} from {one.origin}{best}"))
        return "\n".join(f"{name:<9}  {value}" for name, value in rows)

    def _table(self) -> str:
        return text.table(
            ("workload", "A", "B", "ratio [95 %]", "margin", "B is"),
            [
                (
                    one.workload,
                    text.duration(one.a_us),
                    text.duration(one.b_us),
                    text.ratio(one.ratio, one.low, one.high),
                    f"{one.margin:.1%}",
                    one.decision.upper(),
                )
                for one in self.comparisons
            ],
            right=" rr r",
        )

    def _decided(self, found: OverallRow) -> str:
        said = {
            Decision.FASTER: "B is faster than A",
            Decision.SLOWER: "B is slower than A",
            Decision.SAME: f"A and B are the same within {found.margin:.1%}",
            Decision.UNDECIDED: "undecided",
        }[Decision(found.decision)]
        lines = [f"decision   {said}: {text.ratio(found.ratio, found.low, found.high)}"]
        margins = [
            f"{name} {side.own_margin:.1%}"
            for name, side in (("A", self.a), ("B", self.b))
            if side.own_margin is not None
        ]
        if margins:
            lines.append(f"itself     apart from itself in this session: {', '.join(margins)}")
        return "\n".join(filter(None, [*lines, report.evidence(self._looks[1], checks=False)]))


def overall(found: Sequence[Comparison]) -> OverallRow | None:
    """One answer for all workloads: geometric means of the ratios and of the ends.

    The mean of the ends is a wider interval than the workloads together would give, so several
    undecided ones do not add up to a decision that none of them supports.
    """
    if not found:
        return None
    if len(found) == 1:
        ratio, low, high = found[0].ratio, found[0].low, found[0].high
        margin, decision = found[0].margin, found[0].decision
    else:
        means = [
            sum(math.log(value) for value in values) / len(found)
            for values in zip(*((one.ratio, one.low, one.high) for one in found), strict=True)
        ]
        margin = max(one.margin for one in found)
        decision = decide(Interval(*means), margin)
        ratio, low, high = map(math.exp, means)
    return OverallRow(ratio=ratio, low=low, high=high, margin=margin, decision=decision.value)


def _unblamed(look: Evaluation) -> Evaluation:
    change = {"outcome": Outcome.PASSED, "reason": NOT_TIMED, "evidence": {}}
    return look.model_copy(update=change)


def _side(one: Entrant, look: Evaluation, margin: float | None, tried: int) -> SideRow:
    who = one.candidate
    return SideRow(
        origin=one.origin,
        candidate=CandidateRow(id=who.id, language=who.language, fingerprint=who.fingerprint),
        strategy=who.strategy,
        tunables=dict(who.tunables),
        outcome=look.outcome.value,
        reason=look.reason,
        tried=tried,
        own_margin=margin,
    )
