"""A machine with a known truth and noise like a real one's, for the judge's own way to decide.

Two kernels, of which one takes so many times as long as the other, run on a machine that slows and
recovers, is hit by bursts of other work, and places a process's memory luckily or not. The numbers
are those of a shared cloud machine: a tenth of blocks hit, places that differ by a half per cent.
What is measured is whether the interval of :mod:`kernelwright.timing` holds the truth, and what
is decided. Nothing is run, so thousands of comparisons take seconds.
"""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from kernelwright.records.outcome import Decision
from kernelwright.timing.protocol import Pairs, compare, measure
from kernelwright.timing.statistics import Noise, bootstrap_median

LOOKS = (30, 100, 300)
TWINS, TWIN_PAIRS = 3, 20


@dataclass(frozen=True)
class Weather:
    """How a machine varies; all in log units, about relative differences."""

    drift: float = 0.02
    """Deviation of the slowness that both sides feel."""
    memory: float = 0.97
    """How much of it stays from a block to the next."""
    block: float = 0.01
    """Deviation of each block's own noise."""
    burst_share: float = 0.1
    burst: float = 0.15
    """Mean of what other work adds to a block that it hits."""
    place: float = 0.005
    """Deviation between processes of the same kernel."""


CALM = Weather(drift=0.005, block=0.004, burst_share=0.02, burst=0.05, place=0.001)
USUAL = Weather()
STORM = Weather(drift=0.1, block=0.03, burst_share=0.3, burst=0.4, place=0.02)
WEATHERS = {"calm": CALM, "usual": USUAL, "storm": STORM}


class Machine:
    """The time of day, as far as it slows a kernel."""

    def __init__(self, weather: Weather, random: np.random.Generator) -> None:
        self.weather, self.random = weather, random
        self._slow = weather.drift * random.standard_normal()

    def side(self, mean_us: float) -> "Simulated":
        """A fresh process of a kernel that takes so long."""
        lucky = self.weather.place * self.random.standard_normal()
        return Simulated(self, mean_us * math.exp(lucky))

    def slowness(self) -> float:
        """By how much the block that is run now takes longer, as a logarithm."""
        weather, random = self.weather, self.random
        fresh = math.sqrt(1 - weather.memory**2) * weather.drift
        self._slow = weather.memory * self._slow + fresh * random.standard_normal()
        found = self._slow + weather.block * random.standard_normal()
        if random.random() < weather.burst_share:
            found += random.exponential(weather.burst)
        return found


class Simulated:
    """One side of a comparison, see :class:`kernelwright.timing.protocol.Side`."""

    def __init__(self, machine: Machine, mean_us: float) -> None:
        self._machine, self._mean_us = machine, mean_us

    def ready(self) -> None: ...

    def skip(self) -> None: ...

    def block(self) -> float:
        return self._mean_us * math.exp(self._machine.slowness())


@dataclass
class Seen:
    """What many comparisons with one truth gave."""

    comparisons: int = 0
    covered: int = 0
    """Intervals that hold the truth."""
    faster: int = 0
    slower: int = 0
    same: int = 0
    undecided: int = 0


def simulated(
    ratio: float, trials: int, seed: int, weather: Weather = USUAL, placements: int = 8
) -> Seen:
    """Comparisons of a kernel with a rival that takes ``ratio`` times as long.

    Args:
        ratio: the truth.
        trials: number of comparisons, each on a machine and with a noise of its own.
        seed: of everything drawn.
        weather: of the machines.
        placements: over how many fresh processes each look is spread.
    """
    found = Seen()
    for trial in range(trials):
        machine = Machine(weather, np.random.default_rng([seed, trial]))
        ((_, interval, decision, _),) = compare(
            partial(_placed, machine, ratio),
            looks=LOOKS,
            noise=noise_of(machine),
            seed=trial,
            placements=placements,
        )
        found.comparisons += 1
        found.covered += interval.low <= math.log(ratio) <= interval.high
        found.faster += decision is Decision.FASTER
        found.slower += decision is Decision.SLOWER
        found.same += decision is Decision.SAME
        found.undecided += decision is Decision.UNDECIDED
    return found


def _placed(machine: Machine, ratio: float) -> "tuple[Simulated, Simulated]":
    return machine.side(100.0), machine.side(100.0 * ratio)


def noise_of(machine: Machine) -> Noise:
    """The A/A noise of a session there, found as the judge does: three twins, twenty pairs."""
    intervals = []
    for number in range(TWINS):
        pairs = Pairs()
        measure(machine.side(100.0), machine.side(100.0), pairs, TWIN_PAIRS)
        intervals.append(bootstrap_median(pairs.log_ratios, seed=number))
    return Noise(
        half_width=float(np.median([one.half_width for one in intervals])),
        pairs=TWIN_PAIRS,
        between=max(abs(one.median) for one in intervals),
    )
