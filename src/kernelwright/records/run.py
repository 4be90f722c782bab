"""The run: what was asked, what it cost, what came out."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from kernelwright.records.base import Record

Effort = Literal["quick", "normal", "thorough"]
Status = Literal[
    "running", "improved", "nothing_left_to_win", "no_improvement", "budget", "interrupted"
]

# What is asked for is bounded, so that a slip of the finger is refused where it is made.
Minutes = Annotated[float, Field(gt=0, le=366 * 24 * 60)]
Counted = Annotated[int, Field(ge=0, le=10**9)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]


def _is_architecture(value: str) -> str:
    if value and not re.fullmatch(r"sm_\d{2,3}[af]?", value):
        raise ValueError("must be an architecture, as sm_90a")
    return value


Architecture = Annotated[str, AfterValidator(_is_architecture)]
"""Of a GPU, for which kernels are built, or empty."""
MOST_SPEEDUP = 10**6


class Budget(Record):
    """Hard limits; None means no limit of that kind."""

    minutes: float | None = Field(default=None, gt=0)
    evaluations: int | None = Field(default=None, ge=1)
    """Judged looks at any rung above draft."""


class RunSpec(Record):
    """Everything that decides what a run does, fixed when it starts."""

    task: str
    """Content hash of the task in the store."""
    device: str
    languages: tuple[str, ...] = ("cpp",)
    proposers: tuple[str, ...] = ("experts", "tune")
    parents: str = "greedy"
    effort: Effort = "normal"
    budget: Budget = Budget()
    target: float | None = None
    """Stop when the confirmed speedup over the strongest baseline reaches this."""
    seed: int = 0
    threads: int = Field(ge=1)
    sandbox: Literal["auto", "require", "off"] = "auto"
    compiler: str = ""
    """Name of the compiler; empty: the first that is installed."""
    start: tuple[str, ...] = ()
    """Ids of the user's own candidates."""


class Spent(Record):
    """What a run has cost so far."""

    wall_s: float = 0.0
    device_s: float = 0.0
    tokens: int = 0
    usd: float = 0.0
    """This and the tokens stay 0 while no proposer asks a language model."""
    evaluations: int = 0


class Run(Record):
    """One run as the store knows it."""

    id: str
    spec: RunSpec
    status: Status = "running"
    best: str = ""
    """Id of the confirmed best candidate, or empty."""
    spent: Spent = Spent()
    created: str
    """In UTC, as fine as the clock is: runs are ordered by it."""
    notes: dict[str, Any] = {}


def is_won(run: Run) -> bool:
    """Whether its best is a confirmed winner, and not merely the closest."""
    return run.status in ("improved", "nothing_left_to_win")
