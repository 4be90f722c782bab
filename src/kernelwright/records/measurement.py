"""Times and what they were compared with."""

import math
from collections.abc import Iterable

from kernelwright.records.base import Record
from kernelwright.records.outcome import Decision


class Times(Record):
    """Summary of the calls of one side, in microseconds."""

    median: float
    p20: float
    p80: float
    min: float
    n: int
    discarded: int = 0


class Measurement(Record):
    """How long one candidate took on one workload."""

    workload: str
    time_us: Times
    noop_us: float
    """The price of calling a kernel that does nothing."""
    clocks: dict[str, float] = {}
    """Median microseconds a call by each clock, for example ``worker`` and ``wall``."""
    samples_us: tuple[float, ...] = ()
    """Raw block times; kept by landscapes, dropped elsewhere."""


class Comparison(Record):
    """A candidate against one rival on one workload: ratio = rival's time / candidate's time."""

    baseline: str
    workload: str
    ratio: float
    low: float
    high: float
    decision: Decision
    margin: float
    """Smallest relative difference called faster or slower in this session."""
    pairs: int
    discarded: int = 0
    candidate_us: float
    baseline_us: float
    samples: tuple[float, ...] = ()
    """Paired log-ratios; kept by landscapes, dropped elsewhere."""
    groups: tuple[int, ...] = ()
    """Place that each sample comes from; kept with them."""


def hardest_first(found: Iterable[Comparison]) -> tuple[Comparison, ...]:
    """Comparisons by baseline, that which is hardest to beat first, by the mean of log-ratios.

    Within a baseline their order is kept.
    """
    by_name: dict[str, list[Comparison]] = {}
    for one in found:
        by_name.setdefault(one.baseline, []).append(one)
    ordered = sorted(
        by_name.values(), key=lambda rows: sum(math.log(one.ratio) for one in rows) / len(rows)
    )
    return tuple(one for rows in ordered for one in rows)


class Roofline(Record):
    """The least time this device could need, from compulsory bytes and operations."""

    floor_us: float
    fraction: float
    """floor_us divided by the measured time: 1 means at the roof."""
    bound: str
    """``bandwidth`` or ``rate``."""
    operations_known: bool = True
    """Whether the task says how many; else only its bytes make the floor."""
