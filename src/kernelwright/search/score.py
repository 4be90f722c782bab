"""How good a candidate is, from its comparisons alone.

S(p, r) = lower bound of the log speedup + bonus(r). Over several workloads the bound is
``(1 - w) * mean + w * worst``: a kernel that is slow somewhere must pay for it. The bonus grows
with the rung, since a number that stood more looks deserves more belief. Scores are compared
within a rung; across rungs only as a tie-breaker, because rungs time different workloads.

Refuses to score what did not pass, and to set numbers against one baseline beside numbers against
another: who compares scores says which baselines count.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Session
from kernelwright.records.measurement import Comparison, hardest_first
from kernelwright.records.outcome import Decision
from kernelwright.records.rung import Rung

WORST = 0.25
"""Weight of the worst workload."""
BONUS = {Rung.DRAFT: 0.0, Rung.SMOKE: 0.0, Rung.SCREEN: 0.01, Rung.FULL: 0.03, Rung.CONFIRM: 0.06}
NOISY = 0.25
"""A margin beyond which a look was no measurement: no speedup worth having could be told."""
ROOF = 0.95
"""Nothing is left to win at this share of the roofline, unless it is exceeded by as much: then
the ceiling was measured too low, or the algorithm does less than the obvious one."""


@dataclass(frozen=True)
class Score:
    """A candidate at one rung; logarithms of speedups over the strongest baseline."""

    value: float
    """S(p, r): the lower bound with the bonus."""
    low: float
    high: float
    """The interval, the worst workload weighted in."""
    speedup: float
    """Geometric mean of the ratios, no logarithm."""


def score(evaluation: Evaluation, among: Collection[str] = ()) -> Score | None:
    """The score, or None if the evaluation did not pass or was not timed.

    Args:
        evaluation: a look.
        among: names of the baselines that count; empty: all it was compared with.
    """
    rivals = strongest(evaluation, among)
    if not evaluation.passed or not rivals:
        return None
    low = _pooled([math.log(rival.low) for rival in rivals])
    high = _pooled([math.log(rival.high) for rival in rivals])
    mean = sum(math.log(rival.ratio) for rival in rivals) / len(rivals)
    return Score(low + BONUS[evaluation.rung], low, high, math.exp(mean))


def strongest(evaluation: Evaluation, among: Collection[str] = ()) -> Sequence[Comparison]:
    """Comparisons with the baseline that is hardest to beat, by the mean of the log-ratios.

    Cheap looks compare with one baseline. A confirm compares with all, and one that was not timed
    before, such as the framework's compiler, may turn out to be the one.

    Args:
        evaluation: a look.
        among: names of the baselines that count; empty: all it was compared with.
    """
    rows = evaluation.comparisons
    ordered = hardest_first(one for one in rows if not among or one.baseline in among)
    return tuple(one for one in ordered if one.baseline == ordered[0].baseline)


def is_improvement(evaluation: Evaluation) -> bool:
    """Whether a confirm says faster than the strongest baseline.

    The pooled lower bound must exceed the margin, and some workload must have been decided
    ``faster``: many undecided ones do not add up to a decision.
    """
    found = score(evaluation)
    if found is None:
        return False
    rivals = strongest(evaluation)
    margin = max(rival.margin for rival in rivals)
    faster = any(rival.decision is Decision.FASTER for rival in rivals)
    return faster and found.low > math.log1p(margin)


def undecided(evaluation: Evaluation) -> bool:
    """Whether a look leaves open how a candidate compares with the strongest baseline."""
    return any(one.decision is Decision.UNDECIDED for one in strongest(evaluation))


def told_nothing(evaluation: Evaluation) -> bool:
    """Whether it does because the baseline differed too much from itself meanwhile."""
    rows = strongest(evaluation)
    return any(one.decision is Decision.UNDECIDED and one.margin > NOISY for one in rows)


def roof_fraction(evaluation: Evaluation, session: Session) -> float | None:
    """Geometric mean of floor / time over the timed workloads; None if a floor is unknown."""
    shares = []
    for measurement in evaluation.measurements:
        floor = session.floor_us.get(measurement.workload)
        if not floor:
            return None
        shares.append(math.log(floor / measurement.time_us.median))
    return math.exp(sum(shares) / len(shares)) if shares else None


def at_the_roof(evaluation: Evaluation, session: Session) -> bool:
    """Whether no more than 5 % are left to win."""
    fraction = roof_fraction(evaluation, session)
    return evaluation.passed and fraction is not None and ROOF <= fraction <= 1 / ROOF


def _pooled(logs: Sequence[float]) -> float:
    return (1 - WORST) * sum(logs) / len(logs) + WORST * min(logs)
