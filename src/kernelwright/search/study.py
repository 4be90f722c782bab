"""Compares ways to search on a landscape: device time until the incumbent is nearly the best.

The incumbent is the champion of the run; how good it *is* comes from the landscape, not from the
noisy look that crowned it. Each seed draws its own noise and its own order of the grid, the first
points of all structures before the rest; nobody tunes, since what a tuner asks for is not in the
grid. A run that never gets there counts with all the device time it spent, which flatters
it; how many did so is reported beside the time.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernelwright.records.candidate import Candidate
from kernelwright.records.run import Effort, RunSpec
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.search.landscape import Landscape, LandscapeExecutor
from kernelwright.search.loop import start_run
from kernelwright.search.rungs import full_for_all, plans_for
from kernelwright.store.store import Store

NEARLY = 0.95
RESAMPLES = 2000


@dataclass(frozen=True)
class Trial:
    """One run on a landscape."""

    device_s: float
    """Until the incumbent was nearly the best; everything spent, if it never was."""
    reached: bool
    final: float
    """Quality of the last incumbent over the best of the landscape."""
    looks: int
    missed: int


@dataclass(frozen=True)
class Estimate:
    """A number with a 95 % interval over seeds."""

    value: float
    low: float
    high: float


def ways(effort: Effort = "normal") -> Mapping[str, Mapping[Rung, RungPlan]]:
    """What is compared: the rungs, and full fidelity for every candidate; nobody is confirmed."""
    both = {"rungs": plans_for(effort), "full fidelity": full_for_all(effort)}
    return {
        name: {rung: plan for rung, plan in plans.items() if rung is not Rung.CONFIRM}
        for name, plans in both.items()
    }


def trial(
    landscape: Landscape,
    plans: Mapping[Rung, RungPlan],
    seed: int,
    *,
    effort: Effort = "thorough",
    drafts: int = 2,
) -> Trial:
    """One run with one seed."""
    start = _order(landscape, seed)
    executor = LandscapeExecutor(landscape, drafts=drafts)
    store = Store.open("sqlite://")
    try:
        spec = RunSpec(
            task="",
            device=landscape.session.environment.get("kind", "cpu"),
            proposers=(),
            effort=effort,
            seed=seed,
            threads=landscape.threads,
        )
        summary = start_run(
            store,
            executor,
            landscape.task,
            spec,
            start=start,
            plans=plans.values(),
            clock=executor.clock,
        )
        return _judged(landscape, store, summary.run.id, executor.missed)
    finally:
        store.close()


def _order(landscape: Landscape, seed: int) -> list[Candidate]:
    """The grid as one seed meets it: structures, then points derived from them."""
    chance = random.Random(seed)
    first = landscape.structures()
    of = {one.source: one.id for one in first}
    rest = [
        one.model_copy(update={"parents": (of[one.source],)})
        for one in landscape.candidates.values()
        if of[one.source] != one.id
    ]
    chance.shuffle(first)
    chance.shuffle(rest)
    return [*first, *rest]


def _judged(landscape: Landscape, store: Store, run_id: str, missed: int) -> Trial:
    spent = {stored.number: stored.device_s for stored in store.evaluations(run_id)}
    best, final = landscape.best(), 0.0
    reached: float | None = None
    for event in store.events(run_id, "champion"):
        final = landscape.quality(event.data["candidate"]) or 0.0
        if reached is None and final >= NEARLY * best:
            reached = spent[event.data["evaluation"]]
    total = max(spent.values(), default=0.0)
    return Trial(
        device_s=total if reached is None else reached,
        reached=reached is not None,
        final=final / best if best else 0.0,
        looks=store.run(run_id).spent.evaluations,
        missed=missed,
    )


def median(values: Sequence[float], seed: int = 0) -> Estimate:
    """Median with a percentile-bootstrap interval over seeds."""
    picked = _resampled(np.asarray(values), seed)
    low, high = np.quantile(np.median(picked, axis=1), [0.025, 0.975])
    return Estimate(float(np.median(values)), float(low), float(high))


def speedup(slow: Sequence[float], fast: Sequence[float], seed: int = 0) -> Estimate:
    """How many times less device time: ratio of medians, seeds paired."""
    pairs = _resampled(np.column_stack([slow, fast]), seed)
    medians = np.median(pairs, axis=1)
    low, high = np.quantile(medians[:, 0] / medians[:, 1], [0.025, 0.975])
    return Estimate(float(np.median(slow) / np.median(fast)), float(low), float(high))


def _resampled(
    values: "np.typing.NDArray[np.float64]", seed: int
) -> "np.typing.NDArray[np.float64]":
    picks = np.random.default_rng(seed).integers(0, len(values), (RESAMPLES, len(values)))
    return values[picks]
