"""What came out of a run, computed from the store alone, so that it can be asked again any time."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kernelwright.candidates.settle import best_file, leading_file
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Session
from kernelwright.records.run import Budget, Run, Spent, is_won
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import Policy, policy_of
from kernelwright.records.task import Task
from kernelwright.search import outlook
from kernelwright.search.inputs import whole_budget
from kernelwright.search.leading import Leading, leader
from kernelwright.search.rejected import Rejection, commonest, failures
from kernelwright.search.score import score
from kernelwright.store.rows import readable
from kernelwright.store.step import Event, StoredEvaluation
from kernelwright.store.store import Store

LEAST_MINUTES = 1
"""What opening a device again and one confirm take, with something to spare."""


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
    only_built: int = 0
    """Of those that passed: built and never run, so nothing is known of their results."""
    by_rung: dict[str, int] = field(default_factory=dict)
    """Evaluations made at each rung, copies excluded."""
    copied: int = 0
    device_s_by_rung: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Audit:
    """What repeating everything about a run's best said, at one time."""

    at: str
    """Time of day, ISO 8601."""
    verdict: str
    differences: tuple[str, ...]
    """What did not hold, a sentence each."""


@dataclass(frozen=True)
class RunSummary:
    """One run, for a report or an exit code."""

    run: Run
    """With the status of now, see :meth:`kernelwright.store.store.Store.run`."""
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
    budget: Budget = field(default_factory=Budget)
    """What was given, with what was added since."""
    earlier: tuple[Evaluation, ...] = ()
    """Confirms of ``best`` before the one that counts, oldest first."""
    audits: tuple[Audit, ...] = ()
    """Audits of ``best``, oldest first."""
    leading: Leading | None = None
    """Who leads while nobody is confirmed."""
    needed_s: float = 0.0
    """Seconds that a confirmed number is expected to take still, where the budget ended first."""
    rejection: Rejection | None = None
    """Why candidates failed, where none passed a timed look."""
    refused: tuple[Rejection, ...] = ()
    """Files that the user gave of which nothing passed any look, where others did."""

    def way_on(self) -> str:
        """The command that lets the run go on; empty where nothing was left undone."""
        command = f"kernelwright runs resume {self.run.id}"
        if self.run.status == "interrupted":
            return command
        if self.run.status != "budget":
            return ""
        words = [command]
        if self.budget.minutes is not None:
            words.append(f"--minutes {max(math.ceil(self.needed_s / 60), LEAST_MINUTES)}")
        if self.budget.evaluations is not None:
            words.append(f"--evaluations {max(self.budget.evaluations, Rung.CONFIRM)}")
        return " ".join(words)

    def sources(self) -> dict[str, str]:
        """Text by file name: the best, or who came closest or leads, in a file that says so."""
        if self.best:
            return dict([best_file(self.best, "best" if is_won(self.run) else "closest")])
        return dict([leading_file(self.leading.candidate, self.run.id)]) if self.leading else {}

    rival: str = ""
    """Baseline that looks below the confirm were compared with: the strongest when it began."""

    @property
    def policy(self) -> Policy:
        """How exact results had to be."""
        return policy_of(self.task, self.session.sensitivity if self.session else None)


def summarise(store: Store, run_id: str) -> RunSummary:
    """Read one run.

    Raises:
        UsageError: there is no such run.
        StoreError: a row of it is damaged.
    """
    run = store.run(run_id, present=True)
    events = store.events(run.id)
    with readable(f"what run {run.id} knows of its sessions"):
        opened = [one.data["session"] for one in events if one.kind == "opened"]
        sessions = [Session.model_validate(one) for one in opened]
    looks = store.evaluations(run.id, run.best, Rung.CONFIRM) if run.best else ()
    confirms = tuple(look.evaluation for look in looks)
    confirmed = confirms[-1] if confirms else None
    found = score(confirmed) if confirmed else None
    evaluations = store.evaluations(run.id)
    rival = sessions[0].strongest if sessions else ""
    leads = None if run.best else leader(evaluations, rival)
    return RunSummary(
        run=run,
        task=store.task(run.spec.task),
        session=sessions[-1] if sessions else None,
        best=store.candidate(run.id, run.best) if run.best else None,
        confirmed=confirmed,
        speedup=found.speedup if found else None,
        reason=_reason(run),
        counts=count(evaluations),
        spent=run.spent,
        folder=store.run_folder(run.id),
        budget=whole_budget(run, events),
        earlier=confirms[:-1],
        audits=_audits(run, events),
        leading=Leading(store.candidate(run.id, leads[0]), leads[1]) if leads else None,
        needed_s=_needed_s(store, run, events, evaluations, leads[1] if leads else None),
        rejection=_rejection(store, run, evaluations),
        refused=_refused(store, run, evaluations),
        rival=rival,
    )


def _needed_s(
    store: Store,
    run: Run,
    events: Sequence[Event],
    looks: Sequence[StoredEvaluation],
    passed: Rung | None,
) -> float:
    if run.status != "budget":
        return 0.0
    with readable(f"what run {run.id} took"):
        needed = outlook.path(run, passed)
        return outlook.seconds(needed, run, events, looks, store.claims(run.id))


def _rejection(store: Store, run: Run, looks: Sequence[StoredEvaluation]) -> Rejection | None:
    look = commonest(looks)
    if look is None:
        return None
    who = store.candidate(run.id, look.candidate)
    started = [store.candidate(run.id, one) for one in run.spec.start]
    own = any((one.language, one.source) == (who.language, who.source) for one in started)
    return Rejection(who, look, who.origin if own else "")


def _refused(store: Store, run: Run, looks: Sequence[StoredEvaluation]) -> tuple[Rejection, ...]:
    given = [store.candidate(run.id, one) for one in run.spec.start]
    ends = failures(looks)
    return tuple(Rejection(one, ends[one.id], one.origin) for one in given if one.id in ends)


def _audits(run: Run, events: Sequence[Event]) -> tuple[Audit, ...]:
    with readable(f"what run {run.id} knows of its audits"):
        told = [one.data for one in events if one.kind == "audited"]
        return tuple(
            Audit(str(one["at"]), str(one["verdict"]), tuple(map(str, one["differences"])))
            for one in told
            if one["candidate"]["id"] == run.best
        )


def _reason(run: Run) -> str:
    if run.status == "running":
        return ""
    # Whoever is killed leaves no reason behind.
    missing = "its process is gone" if run.status == "interrupted" else ""
    return str(run.notes.get("reason", missing))


def count(evaluations: Sequence[StoredEvaluation]) -> Counts:
    """Count what a run did, from its evaluations in order of completion."""
    by_rung: Counter[str] = Counter()
    seconds: dict[str, float] = {}
    last: dict[str, Evaluation] = {}
    built = measured = copied = 0
    for stored in evaluations:
        look = stored.evaluation
        last[look.candidate] = look
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
        by_outcome=dict(Counter(look.outcome.value for look in last.values())),
        only_built=sum(look.passed and look.rung is Rung.DRAFT for look in last.values()),
        by_rung=dict(by_rung),
        copied=copied,
        device_s_by_rung=seconds,
    )
