"""Start a run, or go on with one; see the package docstring for the contract.

The loop itself is :meth:`kernelwright.search.work.Work.go_on`; the decisions are
:class:`kernelwright.search.scheduler.Scheduler`'s.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from secrets import token_hex

from kernelwright.candidates.settle import settled
from kernelwright.checks.sensitivity import InsensitiveTask
from kernelwright.errors import StoreError, UsageError
from kernelwright.executors.base import Executor
from kernelwright.records.candidate import Candidate
from kernelwright.records.run import Run, RunSpec
from kernelwright.records.rung import RungPlan
from kernelwright.records.task import Task
from kernelwright.search.inputs import Clock, Live, Opened, recorded
from kernelwright.search.journal import DifferenceError, Journal
from kernelwright.search.observer import Observer
from kernelwright.search.rungs import plans_for
from kernelwright.search.scheduler import Scheduler
from kernelwright.search.summary import RunSummary, summarise
from kernelwright.search.work import Work
from kernelwright.store import folders
from kernelwright.store.step import content_hash
from kernelwright.store.store import Store
from kernelwright.store.writer import Writer


def start_run(
    store: Store,
    executor: Executor,
    task: Task,
    spec: RunSpec,
    *,
    start: Sequence[Candidate] = (),
    plans: Iterable[RungPlan] | None = None,
    observer: Observer | None = None,
    clock: Clock | None = None,
) -> RunSummary:
    """Search for a faster kernel for ``task`` until a stop rule holds.

    Args:
        store: where everything is kept.
        executor: where candidates are judged; opened here, and closed however the run ends.
        task: what to compute.
        spec: what decides the run; ``spec.task`` and ``spec.start`` are filled in here.
        start: the user's own candidates.
        plans: the rungs, cheap to dear; default those of the effort.
        observer: who watches.
        clock: seconds, for a simulated device; default the machine's monotonic clock.

    Raises:
        UsageError: there is nothing to try (no expert, no start file).
        InsensitiveTask: the task's own comparison would accept a wrong answer.
        UserError: the executor or the store cannot be used.
        JudgeError: the machinery broke; the run stays resumable.
    """
    change = {"task": content_hash(task), "start": tuple(one.id for one in start)}
    chosen = list(plans or plans_for(spec.effort).values())
    now = datetime.now(UTC)
    run = Run(
        id=f"{now:%Y%m%d-%H%M%S}-{token_hex(3)}",
        spec=spec.model_copy(update=change),
        created=now.isoformat(timespec="seconds"),
        notes={"plans": [plan.model_dump(mode="json") for plan in chosen]},
    )
    scheduler = Scheduler(run, task, start)
    if not scheduler.has_candidates:
        raise UsageError(
            f"there is nothing to try for {task.name}: no expert kernel fits it",
            hint="give a kernel of your own with --start FILE; "
            "'kernelwright tasks show' prints the contract",
        )
    live = Live(executor, clock, 0.0, scheduler.limits.wall_s)
    try:
        writer = Writer(store)
        opened = _opened(live, task, writer)
        writer.put_task(task)
        writer.create_run(run, start)
        work = Work(scheduler, Journal(store, run), live, task, observer or Observer())
        work.go_on(opened, writer)
    finally:
        executor.close()
    return _ended(store, run.id, observer)


def resume_run(
    store: Store,
    executor: Executor,
    run_id: str,
    *,
    observer: Observer | None = None,
    clock: Clock | None = None,
) -> RunSummary:
    """Go on with a run that was interrupted or killed.

    Raises:
        UsageError: no such run, it is finished, or a living process works on it.
        StoreError: the stored decisions cannot be reproduced by this version.

    An executor that says ``simulated = True`` repeats itself exactly; it is driven from the
    beginning, checked against the store, and goes on from where the store ends, with nothing
    lost and nothing charged.
    """
    run = store.run(run_id)
    if run.status not in ("running", "interrupted"):
        raise UsageError(f"run {run.id} is finished: {run.status}")
    writer = Writer(store)
    writer.take(run.id)
    try:
        simulated = getattr(executor, "simulated", False)
        task, scheduler, journal = _begin(store, run) if simulated else past(store, run)
        base_s = scheduler.ledger.wall_s + scheduler.ledger.lost_s()
        live = Live(executor, clock, base_s, scheduler.limits.wall_s)
        work = Work(scheduler, journal, live, task, observer or Observer())
        try:
            opened = _opened(live, task, writer)
            work.send(scheduler.claims.values())
            work.go_on(opened, writer)
        finally:
            executor.close()
    except DifferenceError as problem:
        raise StoreError(
            f"run {run.id} cannot be continued, its decisions come out differently: {problem}",
            hint="it was made by another version; start a new run with --start best.*",
        ) from problem
    return _ended(store, run.id, observer)


def _opened(live: Live, task: Task, writer: Writer) -> Opened:
    """Open the executor with what is known of the task's sensitivity; keep what it finds.

    Raises:
        InsensitiveTask: the task's own comparison would accept a wrong answer.
    """
    digest = content_hash(task)
    known = writer.store.sensitivity(digest)
    try:
        opened = live.open(task, known)
    except InsensitiveTask as refusal:
        if known is None:
            writer.put_sensitivity(digest, refusal.found)
        raise
    if known is None and opened.session.sensitivity is not None:
        writer.put_sensitivity(digest, opened.session.sensitivity)
    return opened


def past(store: Store, run: Run) -> tuple[Task, Scheduler, Journal]:
    """Feed a scheduler everything that is stored of a run.

    Raises:
        DifferenceError: a stored decision came out differently.
    """
    task, scheduler, journal = _begin(store, run)
    for given in recorded(store, run.id):
        step = scheduler.take(given).step
        journal.commit(scheduler.run, step)
    journal.finish()
    return task, scheduler, journal


def _begin(store: Store, run: Run) -> tuple[Task, Scheduler, Journal]:
    task = store.task(run.spec.task)
    start = [store.candidate(run.id, one) for one in run.spec.start]
    notes = {"plans": run.notes["plans"]}
    fresh = run.model_copy(update={"status": "running", "best": "", "notes": notes})
    return task, Scheduler(fresh, task, start), Journal(store, run)


def _ended(store: Store, run_id: str, observer: Observer | None) -> RunSummary:
    if store.keeps_files:
        folders.export(store, run_id, text=settled)
    summary = summarise(store, run_id)
    (observer or Observer()).stopped(summary)
    return summary
