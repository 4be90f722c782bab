"""Paired timing as arithmetic: who goes when, means without extremes, what a difference means.

Pure functions; times are microseconds, a ratio is candidate over baseline (above 1 is slower).
"""

from itertools import chain
from statistics import fmean, median, stdev

ORDER = "ABBA"  # A the candidate, B the baseline; one letter is a block of calls
BLOCK = 10


def trimmed(values: list[float], share: float = 0.1) -> float:
    """Mean without the lowest and highest share."""
    ordered = sorted(values)
    drop = int(share * len(ordered))
    return fmean(ordered[drop : len(ordered) - drop])


def ratio(groups: list[dict[str, list[float]]]) -> float:
    """Candidate over baseline from ABBA groups, each {"A": times, "B": times}, less the first."""
    sides = {side: list(chain(*(group[side] for group in groups[1:]))) for side in "AB"}
    return trimmed(sides["A"]) / trimmed(sides["B"])


def spread(values: list[float]) -> dict[str, float]:
    """Mean, median and standard deviation; percentages when the values are ratios less 1."""
    return {
        "n": len(values),
        "mean": fmean(values),
        "median": median(values),
        "sd": stdev(values) if len(values) > 1 else 0.0,
        "low": min(values),
        "high": max(values),
    }


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def decision(measured: float, noise: float, least: float = 0.01) -> str:
    """What a ratio says beside twice the deviation of comparisons of equals, never below 1 %."""
    margin = max(least, 2 * noise)
    if measured > 1 + margin:
        return "slower"
    return "faster" if measured < 1 - margin else "same"
