"""Rungs: how much is spent on one look at a candidate, cheap to dear."""

from enum import IntEnum
from typing import Literal

from kernelwright.records.base import Record


class Rung(IntEnum):
    """The looks, in order; a candidate climbs only after passing the one below."""

    DRAFT = 0
    SMOKE = 1
    SCREEN = 2
    FULL = 3
    CONFIRM = 4

    @property
    def word(self) -> str:
        """The lower-case name used on the command line and in JSON."""
        return self.name.lower()

    @classmethod
    def from_word(cls, word: str) -> "Rung":
        """The rung of that name.

        Raises:
            KeyError: there is no such rung.
        """
        return cls[word.upper()]


Stage = Literal[
    "smoke", "declared", "stability", "repeats", "edges", "timed_stability", "timed_repeats",
    "hidden",
]  # fmt: skip


class RungPlan(Record):
    """What is done at one rung; travels in the request, so a judge elsewhere needs no settings."""

    rung: Rung
    stages: tuple[Stage, ...]
    """Stages of correctness, in the order in which they run."""
    workloads: Literal["none", "smoke", "main", "all"]
    """Which workloads are timed."""
    looks: tuple[int, ...]
    """Numbers of pairs after which the interval is looked at; the last is the most."""
    checked_share: float = 0.0
    """Share of timed calls whose outputs are validated afterwards."""
    checked_least: int = 0
    """Fewest timed calls validated."""
    placements: int = 1
    """Over how many fresh processes and buffers the pairs of each look are spread; with 1, all
    pairs come from the same."""
    all_baselines: bool = False
    """Compare with every baseline, not with the strongest alone."""
