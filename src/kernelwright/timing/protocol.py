"""Paired timing: candidate and rival take turns in short blocks until a decision is reached.

Knows nothing of processes or devices: a *side* can make ready and run a block. Refuses to
decide from fewer pairs than the first look.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

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

    def skip(self) -> None:
        """Leave out a block that the others run; the next is the n-th for all again."""


@dataclass
class Pairs:
    """What was measured so far."""

    candidate_us: list[float] = field(default_factory=list)
    rival_us: list[float] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    """Number of the placement that each pair comes from."""

    def __len__(self) -> int:
        return len(self.candidate_us)

    def add(self, candidate_us: float, rival_us: float, group: int) -> None:
        """One more pair of blocks."""
        self.candidate_us.append(candidate_us)
        self.rival_us.append(rival_us)
        self.groups.append(group)

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
    others: Sequence[tuple[Side, Pairs]] = (),
) -> None:
    """Add pairs until there are ``count``, or ``go_on`` says no; who goes first alternates.

    Args:
        candidate: one of the two.
        rival: the other.
        pairs: what they have so far.
        count: how many they shall have.
        go_on: asked before each pair.
        group: number of the place.
        others: more rivals, each with its own pairs; they run after every second pair, in turns,
            and are paired with the candidate's block in it.
    """
    while len(pairs) < count and go_on():
        number = len(pairs)
        candidate.ready()
        rival.ready()
        if number % 2 == 0:
            mine, other = candidate.block(), rival.block()
        else:
            other, mine = rival.block(), candidate.block()
        pairs.add(mine, other, group)
        for at in range(len(others)):
            side, more = others[(number // 2 + at) % len(others)]
            if number % 2:
                side.skip()
            else:
                more.add(mine, side.block(), group)


def hopeless(pairs: Pairs) -> bool:
    """Whether every pair so far has the candidate far behind; asked after 3, 6 and 12 pairs.

    It saves time on poor candidates and cannot make anything look faster: all it can end in is
    *slower*.
    """
    limit = HOPELESS.get(len(pairs))
    return limit is not None and max(pairs.log_ratios) < limit


class Compared(NamedTuple):
    """What a comparison with one rival came to."""

    pairs: Pairs
    interval: Interval
    """Of the log-ratio."""
    decision: Decision
    margin: float


def compare(
    place: Callable[[], Sequence[Side]],
    *,
    looks: Sequence[int],
    noise: Noise,
    seed: int,
    placements: int = 1,
    enough_time: Callable[[], bool] = lambda: True,
    narrow: Callable[[int], None] = lambda number: None,
) -> list[Compared]:
    """Pair the candidate with every rival, and with the hardest to beat until a look decides.

    Args:
        place: gives the sides in fresh processes and buffers: the candidate's, that of the rival
            that was the hardest to beat so far, and any others. Those take part in half of the
            pairs up to the first look; the looks after it are for who is the hardest by then.
        looks: numbers of pairs after which the interval is looked at, ascending.
        noise: the A/A comparison of this session.
        seed: of the bootstrap.
        placements: over how many fresh places the pairs of each look are spread; with 1, one
            place serves all looks.
        enough_time: False ends the comparison as it stands, once there are three pairs.
        narrow: told the number of the one rival that is left for the places after the first look.

    Returns:
        For each rival, in the order of the sides.
    """
    (candidate, rival, *others), places = place(), 1
    all_pairs, hardest = [Pairs() for _ in (rival, *others)], 0
    pairs, more = all_pairs[0], all_pairs[1:]

    def go_on() -> bool:
        lost = hopeless(pairs) and not more  # the others are to be known whatever becomes of it
        return not lost and (len(pairs) < LEAST_PAIRS or enough_time())

    for look in looks:
        before = len(pairs)
        for part in range(placements):
            if placements > 1 and pairs:
                if not go_on():
                    break
                (candidate, rival, *others), places = place(), places + 1
            count = before + math.ceil((look - before) * (part + 1) / placements)
            measure(
                candidate, rival, pairs, count, go_on, places, list(zip(others, more, strict=False))
            )
            if len(pairs) < count:
                break
        if look == looks[0]:
            found = [_decided(pairs, look, noise, seed + look)]
            found += [_decided(one, look // 2, noise, seed + look) for one in more]
        else:
            found[hardest] = _decided(pairs, looks[0], noise, seed + look)
        short = len(pairs) < look
        if more:
            hardest = min(range(len(found)), key=lambda number: found[number].interval.median)
            pairs, more = all_pairs[hardest], []
            rival, others = (rival, *others)[hardest], []
            narrow(hardest)
        if short or found[hardest].decision is not Decision.UNDECIDED or not enough_time():
            break
    return found


def _decided(pairs: Pairs, least: int, noise: Noise, seed: int) -> Compared:
    """Look at the interval; fewer than ``least`` pairs decide nothing but *slower*."""
    interval = pairs.interval(seed)
    margin = noise.margin(len(pairs), len(set(pairs.groups)))
    decision = decide(interval, margin)
    enough = least if decision is not Decision.SLOWER else LEAST_PAIRS
    if len(pairs) < enough:
        decision = Decision.UNDECIDED
    return Compared(pairs, interval, decision, margin)


def comparison(
    baseline: str, workload: str, found: Compared, *, keep_samples: bool = False
) -> Comparison:
    """The record of one comparison; ratios are exponentials of the log-ratios."""
    pairs, interval = found.pairs, found.interval
    return Comparison(
        baseline=baseline,
        workload=workload,
        ratio=float(np.exp(interval.median)),
        low=float(np.exp(interval.low)),
        high=float(np.exp(interval.high)),
        decision=found.decision,
        margin=found.margin,
        pairs=len(pairs),
        candidate_us=float(np.median(pairs.candidate_us)),
        baseline_us=float(np.median(pairs.rival_us)),
        samples=tuple(pairs.log_ratios) if keep_samples else (),
        groups=tuple(pairs.groups) if keep_samples else (),
    )
