"""What came out of a run, computed from the store alone, so that it can be asked again any time."""

from dataclasses import dataclass, field
from pathlib import Path

from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Session
from kernelwright.records.run import Run, Spent
from kernelwright.records.task import Task
from kernelwright.store.store import Store


@dataclass(frozen=True)
class Counts:
    """How many; the ``counts`` object of ``optimize --json``."""

    drafted: int = 0
    built: int = 0
    measured: int = 0
    by_outcome: dict[str, int] = field(default_factory=dict)
    by_rung: dict[str, int] = field(default_factory=dict)
    """Looks made at each rung, copies excluded."""
    copied: int = 0
    device_s_by_rung: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class RunSummary:
    """One run, for a report or an exit code."""

    run: Run
    task: Task
    session: Session | None
    best: Candidate | None
    """The confirmed best, or None."""
    confirmed: Evaluation | None
    """The confirm evaluation of ``best``: the only numbers to report."""
    speedup: float | None
    """Confirmed geometric mean over the strongest baseline."""
    reason: str
    """Why the run stopped, one sentence."""
    counts: Counts
    spent: Spent
    folder: Path


def summarise(store: Store, run_id: str) -> RunSummary:
    """Read one run.

    Raises:
        UsageError: there is no such run.
    """
    raise NotImplementedError
