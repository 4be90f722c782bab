"""What the search commits at once: everything that one completion led to.

A step is one transaction, so a killed run is always found between two steps: a claim without
an evaluation was in flight, and nothing else can be half done.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Any

from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.post import Post
from kernelwright.records.rung import Rung
from kernelwright.records.task import Task


@dataclass(frozen=True)
class Claim:
    """A job that is going to be dispatched, and what it may cost at most."""

    number: int
    candidate: str
    rung: Rung
    reserved_s: float
    """Wall seconds set aside for it."""


@dataclass(frozen=True)
class StoredEvaluation:
    """An evaluation with what the store knows about it."""

    number: int
    sequence: int
    """Order of completion within the run, from 1."""
    evaluation: Evaluation
    wall_s: float
    """Wall seconds of the run when it completed."""
    device_s: float
    """Device seconds of the run when it completed."""


@dataclass(frozen=True)
class Event:
    """Something that happened beside the evaluations."""

    kind: str
    """``opened``, ``promoted``, ``champion``, ``deadline``, ``stopped``, ``interrupted``,
    ``confirmed`` (when asked) or ``audited``."""
    data: dict[str, Any] = field(default_factory=dict)


@dataclass
class Step:
    """One transaction of the search."""

    candidates: list[Candidate] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    evaluations: list[StoredEvaluation] = field(default_factory=list)
    posts: list[Post] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)


def content_hash(task: Task) -> str:
    """SHA-256 of a task's JSON: its name in the store."""
    return hashlib.sha256(task.to_json().encode()).hexdigest()
