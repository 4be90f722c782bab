"""What is done at each rung, by effort; the constants are ours and are ablated on landscapes.

Looks grow with the rung and stop early when the interval decides. The seconds are first guesses
for the budget only; after one job of a rung its own mean is used.
"""

from collections.abc import Mapping

from kernelwright.records.run import Effort
from kernelwright.records.rung import Rung, RungPlan, Stage
from kernelwright.settings import MINUTES

ETA = 3
"""The top third of what a rung has seen goes up."""
PLATEAU: Mapping[Effort, int] = {"quick": 24, "normal": 60, "thorough": 200}
"""Looks without a better champion after which a run gives up."""
PRIOR_S: Mapping[Rung, float] = {
    Rung.DRAFT: 3.0,
    Rung.SMOKE: 1.0,
    Rung.SCREEN: 1.5,
    Rung.FULL: 4.0,
    Rung.CONFIRM: 10.0,
}
_FIVE: tuple[Stage, ...] = ("smoke", "declared", "stability", "repeats", "edges")
_LOOKS: Mapping[Effort, tuple[int, ...]] = {
    "quick": (30, 100, 300),
    "normal": (30, 100, 300),
    "thorough": (30, 100, 300, 1000),
}


def efforts() -> str:
    """What each effort stands for, in words for whoever chooses one."""
    said = [
        f"{effort} ({MINUTES[effort]:g} minutes; over after {PLATEAU[effort]} looks without a "
        f"better one; at most {_LOOKS[effort][-1]} pairs a look)"
        for effort in PLATEAU
    ]
    return f"how much is tried: {', '.join(said)}; the minutes hold where no budget is given"


def plans_for(effort: Effort) -> dict[Rung, RungPlan]:
    """The plan of every rung, cheap to dear."""
    looks = _LOOKS[effort]
    plans = (
        RungPlan(rung=Rung.DRAFT, stages=(), workloads="none", looks=()),
        RungPlan(
            rung=Rung.SMOKE, stages=("smoke",), workloads="smoke", looks=(10,), checked_least=1
        ),
        RungPlan(
            rung=Rung.SCREEN,
            stages=("smoke", "declared", "stability"),
            workloads="main",
            looks=(30,),
            checked_least=3,
        ),
        RungPlan(
            rung=Rung.FULL,
            stages=(*_FIVE, "timed_stability"),
            workloads="all",
            looks=looks,
            checked_share=0.2,
            checked_least=3,
        ),
        RungPlan(
            rung=Rung.CONFIRM,
            stages=(*_FIVE, "timed_stability", "timed_repeats", "hidden"),
            workloads="all",
            looks=looks,
            checked_share=0.2,
            checked_least=1,
            placements=8,
            all_baselines=True,
        ),
    )
    return {plan.rung: plan for plan in plans}


def full_for_all(effort: Effort) -> dict[Rung, RungPlan]:
    """No cheap looks: what the rungs are compared with in a study."""
    plans = plans_for(effort)
    return {rung: plans[rung] for rung in (Rung.DRAFT, Rung.FULL, Rung.CONFIRM)}
