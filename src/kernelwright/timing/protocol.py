"""Paired timing: candidate and rival take turns in short blocks until a decision is reached.

Knows nothing of processes or devices: a *side* can make ready and run a block. Refuses to
decide from fewer pairs than the first look.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from kernelwright.records.measurement import Comparison
from kernelwright.records.outcome import Decision
from kernelwright.timing.statistics import (
    LOOK_LEVEL,
    Interval,
    Noise,
    bootstrap_median,
    decide,
    place_interval,
)


class Side(Protocol):
    """One of the two that are timed against each other."""

    def ready(self) -> None:
        """Get ready for the next block; both sides are, before either runs."""

    def block(self) -> float:
        """Run one block on contents never shown before; mean microseconds a call.

        Both sides are asked in turn, so the n-th block of one and of the other are a pair.
        """


@dataclass
class Pairs:
    """What was measured so far."""

    candidate_us: list[float] = field(default_factory=list)
    rival_us: list[float] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    """Number of the placement that each pair comes from."""

    def __len__(self) -> int:
        return len(self.candidate_us)

    @property
    def log_ratios(self) -> list[float]:
        """log(rival / candidate) of every pair."""
        return [
            float(np.log(rival / mine))
            for rival, mine in zip(self.rival_us, self.candidate_us, strict=True)
        ]

    def interval(self, seed: int) -> Interval:
        """Of the log-ratio, over places where there are several."""
        if len(set(self.groups)) > 1:
            return place_interval(self.log_ratios, self.groups, LOOK_LEVEL)
        return bootstrap_median(self.log_ratios, seed=seed)


LEAST_PAIRS = 3
HOPELESS = {3: math.log(0.2), 6: math.log(0.5), 12: math.log(0.65)}
"""Log-ratio under which every pair must lie, by the number of pairs: a burst of other work on the
machine can slow a few pairs by half, not by five."""


def measure(
    candidate: Side,
    rival: Side,
    pairs: Pairs,
    count: int,
    go_on: Callable[[], bool] = lambda: True,
    group: int = 0,
) -> None:
    """Add pairs until there are ``count``, or ``go_on`` says no; who goes first alternates."""
    while len(pairs) < count and go_on():
        candidate.ready()
        rival.ready()
        if len(pairs) % 2 == 0:
            mine, other = candidate.block(), rival.block()
        else:
            other, mine = rival.block(), candidate.block()
        pairs.candidate_us.append(mine)
        pairs.rival_us.append(other)
        pairs.groups.append(group)


def hopeless(pairs: Pairs) -> bool:
    """Whether every pair so far has the candidate far behind; asked after 3, 6 and 12 pairs.

    It saves time on poor candidates and cannot make anything look faster: all it can end in is
    *slower*.
    """
    limit = HOPELESS.get(len(pairs))
    return limit is not None and max(pairs.log_ratios) < limit


def compare(
    place: Callable[[], tuple[Side, Side]],
    *,
    looks: Sequence[int],
    noise: Noise,
    seed: int,
    placements: int = 1,
    enough_time: Callable[[], bool] = lambda: True,
) -> tuple[Pairs, Interval, Decision, float]:
    """Pairs, their interval, the decision and the margin used; stops at the first decision.

    Args:
        place: gives the candidate's side and the rival's in fresh processes and buffers.
        looks: numbers of pairs after which the interval is looked at, ascending.
        noise: the A/A comparison of this session.
        seed: of the bootstrap.
        placements: over how many fresh places the pairs of each look are spread; with 1, one
            place serves all looks.
        enough_time: False ends the comparison as it stands, once there are three pairs.
    """
    pairs, sides, places = Pairs(), place(), 1

    def go_on() -> bool:
        return not hopeless(pairs) and (len(pairs) < LEAST_PAIRS or enough_time())

    for look in looks:
        before = len(pairs)
        for part in range(placements):
            if placements > 1 and pairs:
                if not go_on():
                    break
                sides, places = place(), places + 1
            count = before + math.ceil((look - before) * (part + 1) / placements)
            measure(*sides, pairs, count, go_on, places)
            if len(pairs) < count:
                break
        interval = pairs.interval(seed + look)
        margin = noise.margin(len(pairs), len(set(pairs.groups)))
        decision = decide(interval, margin)
        if len(pairs) < look or decision is not Decision.UNDECIDED or not enough_time():
            break
    if len(pairs) < looks[0] and decision is not Decision.SLOWER:
        decision = Decision.UNDECIDED
    return pairs, interval, decision, margin


def comparison(
    baseline: str,
    workload: str,
    pairs: Pairs,
    interval: Interval,
    decision: Decision,
    margin: float,
    *,
    keep_samples: bool = False,
) -> Comparison:
    """The record of one comparison; ratios are exponentials of the log-ratios."""
    return Comparison(
        baseline=baseline,
        workload=workload,
        ratio=float(np.exp(interval.median)),
        low=float(np.exp(interval.low)),
        high=float(np.exp(interval.high)),
        decision=decision,
        margin=margin,
        pairs=len(pairs),
        candidate_us=float(np.median(pairs.candidate_us)),
        baseline_us=float(np.median(pairs.rival_us)),
        samples=tuple(pairs.log_ratios) if keep_samples else (),
        groups=tuple(pairs.groups) if keep_samples else (),
    )
