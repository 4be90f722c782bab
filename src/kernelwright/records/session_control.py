"""A test that the judge itself was put to in a session, before any candidate."""

from typing import Literal

from kernelwright.records.base import Record

Verdict = Literal["held", "too noisy", "failed"]


class SessionControl(Record):
    """What one control showed; a session in which one fails gives no verdict."""

    name: Literal["against itself", "planted slower", "no-op"]
    verdict: Verdict
    """``too noisy``: this machine cannot show it now, and no verdict says what it cannot."""
    said: str
    """What was seen, no sentence."""
    value: float
    """A ratio of times, the baseline's over its twin's; for the no-op, microseconds."""
    limit: float
    """The margin at as many pairs in one place, or for the no-op the most microseconds; what a
    baseline shows against itself is said for 300 pairs, the most of a usual look."""
    pairs: int = 0
    """Pairs, or for the no-op blocks, that were measured."""
    seconds: float
    """What it took."""
