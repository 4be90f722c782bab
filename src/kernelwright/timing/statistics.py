"""Intervals and decisions from paired times.

The quantity is the median of paired log-ratios, log(rival / candidate): above zero the candidate
is faster. Within one place the interval is a percentile bootstrap of that median (Efron 1979);
over several it is Student's, of the places' medians. At most four looks
are taken, each at 98.75 %, so that looking again does not void 95 % (Bonferroni).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from kernelwright.records.measurement import Times
from kernelwright.records.outcome import Decision

LOOK_LEVEL = 0.9875
LEAST_MARGIN = 0.01
RESAMPLES = 1000
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A median log-ratio with the ends of its interval."""

    median: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the length of the interval, in log units (about a relative difference)."""
        return (self.high - self.low) / 2


def bootstrap_median(
    samples: ArrayLike,
    *,
    level: float = LOOK_LEVEL,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """Percentile-bootstrap interval of the median.

    Args:
        samples: paired log-ratios, one dimension, at least two.
        level: coverage of the interval.
        seed: seed of the resampling, so that a stored sample gives the same interval again.
        resamples: number of bootstrap resamples.

    Raises:
        ValueError: fewer than two samples, or one that is not finite.
    """
    values: Floats = np.asarray(samples, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise ValueError("an interval needs at least two finite samples in one dimension")
    generator = np.random.default_rng(seed)
    picks = generator.integers(0, len(values), (resamples, len(values)))
    medians = np.median(values[picks], axis=1)
    tail = (1 - level) / 2
    low, high = np.quantile(medians, [tail, 1 - tail])
    return Interval(float(np.median(values)), float(low), float(high))


def place_interval(samples: ArrayLike, groups: Sequence[int], level: float) -> Interval:
    """Student's interval of the mean of the places' medians, in the field of ``samples``.

    Samples of one place are not independent, and places are few: a bootstrap over four of them
    covers far less than it promises.

    Args:
        samples: paired log-ratios.
        groups: the place each comes from; at least two places.
        level: coverage of the interval.
    """
    values, labels = np.asarray(samples, dtype=np.float64), np.asarray(groups)
    centres = np.array([np.median(values[labels == one]) for one in np.unique(labels)])
    mean = float(centres.mean())
    error = float(centres.std(ddof=1)) / math.sqrt(len(centres))
    half = float(stdtrit(len(centres) - 1, (1 + level) / 2)) * error
    return Interval(mean, mean - half, mean + half)


SAME_AT_MOST = 0.1
"""Relative difference up to which two kernels may be called the same, however wide the margin: a
machine that cannot tell more apart has not shown that they are."""


def decide(interval: Interval, margin: float) -> Decision:
    """What the interval allows one to say.

    Args:
        interval: of the median log-ratio log(rival / candidate).
        margin: smallest relative difference that counts, for example 0.01.
    """
    edge = math.log1p(margin)
    if interval.low > edge:
        return Decision.FASTER
    if interval.high < -edge:
        return Decision.SLOWER
    same = min(edge, math.log1p(SAME_AT_MOST))
    if -same <= interval.low and interval.high <= same:
        return Decision.SAME
    return Decision.UNDECIDED


@dataclass(frozen=True)
class Noise:
    """How far apart two processes running the *same* kernel looked in this session (A/A)."""

    half_width: float
    """Half-width of one A/A interval, in log units."""
    pairs: int
    """Pairs it was measured with."""
    between: float
    """Largest median log-ratio of several such comparisons, each with a fresh process.

    Where a process's memory happens to lie moves its times for its whole life, which no number
    of pairs averages away.
    """

    def margin(self, pairs: int, placements: int = 1) -> float:
        """Smallest relative difference to claim after ``pairs`` pairs: at least 1 %.

        The A/A half-width is scaled by the root of the ratio of pairs, both ways; the difference
        between processes by the root of their number.
        """
        scaled = self.half_width * math.sqrt(self.pairs / max(pairs, 1))
        between = self.between / math.sqrt(placements)
        return max(LEAST_MARGIN, math.expm1(max(scaled, between)))

    def joined(self, other: "Noise") -> "Noise":
        """The louder of two kernels' noise, for where they are timed against each other."""
        scaled = other.half_width * math.sqrt(other.pairs / max(self.pairs, 1))
        return Noise(
            half_width=max(self.half_width, scaled),
            pairs=self.pairs,
            between=max(self.between, other.between),
        )


def summarize(samples_us: ArrayLike, discarded: int = 0) -> Times:
    """Median, 20th and 80th percentile, least and number of times in microseconds."""
    values: Floats = np.asarray(samples_us, dtype=np.float64)
    p20, median, p80 = np.quantile(values, [0.2, 0.5, 0.8])
    return Times(
        median=float(median),
        p20=float(p20),
        p80=float(p80),
        min=float(values.min()),
        n=len(values),
        discarded=discarded,
    )
