"""What came out of a run, computed from the store alone, so that it can be asked again any time."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Session
from kernelwright.records.run import Run, Spent
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import Policy, policy_of
from kernelwright.records.task import Task
from kernelwright.search.score import score
from kernelwright.store.step import StoredEvaluation
from kernelwright.store.store import Store


@dataclass(frozen=True)
class Counts:
    """How many; the ``counts`` object of ``optimize --json``."""

    drafted: int = 0
    """Candidates checked statically and sent to the compiler."""
    built: int = 0
    """Candidates that were built."""
    measured: int = 0
    """Looks that gave a time, copies excluded."""
    by_outcome: dict[str, int] = field(default_factory=dict)
    """Where each candidate ended: the outcome of its last evaluation."""
    by_rung: dict[str, int] = field(default_factory=dict)
    """Evaluations made at each rung, copies excluded."""
    copied: int = 0
    device_s_by_rung: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class RunSummary:
    """One run, for a report or an exit code."""

    run: Run
    task: Task
    session: Session | None
    """The latest; None if the executor never opened."""
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

    @property
    def policy(self) -> Policy:
        """How exact results had to be."""
        return policy_of(self.task, self.session.sensitivity if self.session else None)


def summarise(store: Store, run_id: str) -> RunSummary:
    """Read one run.

    Raises:
        UsageError: there is no such run.
    """
    run = store.run(run_id)
    opened = store.events(run.id, "opened")
    session = Session.model_validate(opened[-1].data["session"]) if opened else None
    confirmed = None
    if run.best:
        looks = store.evaluations(run.id, run.best, Rung.CONFIRM)
        confirmed = looks[-1].evaluation if looks else None
    found = score(confirmed) if confirmed else None
    return RunSummary(
        run=run,
        task=store.task(run.spec.task),
        session=session,
        best=store.candidate(run.id, run.best) if run.best else None,
        confirmed=confirmed,
        speedup=found.speedup if found else None,
        reason=str(run.notes.get("reason", "")),
        counts=count(store.evaluations(run.id)),
        spent=run.spent,
        folder=store.run_folder(run.id),
    )


def count(evaluations: Sequence[StoredEvaluation]) -> Counts:
    """Count what a run did, from its evaluations in order of completion."""
    by_rung: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    last: dict[str, str] = {}
    built = measured = copied = 0
    for stored in evaluations:
        look = stored.evaluation
        last[look.candidate] = look.outcome.value
        if look.copied_from:
            copied += 1
            continue
        by_rung[look.rung.word] += 1
        seconds[look.rung.word] = seconds.get(look.rung.word, 0.0) + look.device_seconds
        built += look.rung is Rung.DRAFT and look.passed
        measured += bool(look.measurements)
    return Counts(
        drafted=by_rung[Rung.DRAFT.word],
        built=built,
        measured=measured,
        by_outcome=dict(Counter(last.values())),
        by_rung=dict(by_rung),
        copied=copied,
        device_s_by_rung=seconds,
    )
