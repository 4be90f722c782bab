"""The board's posts: what was learnt, each with the evaluation that proves it."""

from typing import Literal

from pydantic import Field

from kernelwright.records.base import Record


class Post(Record):
    """One win or trap."""

    kind: Literal["win", "trap"]
    axis: str
    """What was varied, for example ``strategy`` or a tunable's name."""
    value: str
    condition: str = ""
    effect: float | None = None
    """Ratio to the champion before, for a win."""
    evaluation: int = Field(ge=1)
    """Number of the evaluation in the store that proves it; a post without one is refused."""
    text: str = Field(default="", max_length=160)
