"""Start a run, or go on with one; see the package docstring for the contract.

The loop itself is :meth:`kernelwright.search.work.Work.go_on`; the decisions are
:class:`kernelwright.search.scheduler.Scheduler`'s.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from secrets import token_hex

from kernelwright.checks.sensitivity import InsensitiveTask
from kernelwright.errors import StoreError, UsageError
from kernelwright.executors.base import Executor
from kernelwright.records.candidate import Candidate
from kernelwright.records.run import Budget, Run, RunSpec
from kernelwright.records.rung import RungPlan
from kernelwright.records.task import Task
from kernelwright.search.extension import check_can_go_on, check_was_out_of_budget
from kernelwright.search.inputs import Clock, Live, Opened, recorded
from kernelwright.search.journal import DifferenceError, Journal
from kernelwright.search.observer import Observer
from kernelwright.search.rungs import plans_for
from kernelwright.search.scheduler import Scheduler
from kernelwright.search.summary import RunSummary, summarise
from kernelwright.search.work import Work
from kernelwright.store import folders
from kernelwright.store.rows import readable
from kernelwright.store.step import content_hash
from kernelwright.store.store import Store
from kernelwright.store.writer import Writer

_log = logging.getLogger(__name__)


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
        created=now.isoformat(timespec="microseconds"),
        notes={"plans": [plan.model_dump(mode="json") for plan in chosen]},
    )
    scheduler = Scheduler(run, task, start)
    if not scheduler.has_candidates:
        raise UsageError(
            f"there is nothing to try for {task.name}: no expert kernel fits it",
            hint="give a kernel of your own with --start FILE; "
            "'kernelwright tasks show' prints the contract",
        )
    watcher = observer or Observer()
    live, writer = Live(executor, clock, 0.0, scheduler.limits), Writer(store)
    with put_down(executor, writer, run.id):
        watcher.opening(task)
        opened = _opened(live, task, writer)
        writer.put_task(task)
        writer.create_run(run, start)
        work = Work(scheduler, Journal(store, run), live, task, watcher)
        work.go_on(opened, writer)
    return told(store, run.id, watcher)


def resume_run(
    store: Store,
    executor: Executor,
    run_id: str,
    *,
    more: Budget | None = None,
    observer: Observer | None = None,
    clock: Clock | None = None,
) -> RunSummary:
    """Go on with a run that was interrupted or killed, or with one that lacked budget.

    Args:
        store: where the run is.
        executor: as for :func:`start_run`.
        run_id: which run.
        more: what is added to its budget; with it a run that has ended goes on too.
        observer: who watches.
        clock: as for :func:`start_run`.

    Raises:
        UsageError: no such run, it is finished, there is no such limit to add to, or a living
            process works on it.
        StoreError: the stored decisions cannot be reproduced by this version, or are damaged.
        PrerequisiteError: the baseline that it was compared with cannot be had here.

    A simulated executor repeats itself exactly; it is driven from the beginning, checked against
    the store, and goes on from where the store ends, with nothing lost and nothing charged. A run
    that was given more budget is taken up as on a device.
    """
    run, watcher = store.run(run_id), observer or Observer()
    check_can_go_on(run, more)
    writer = Writer(store)
    with repeatable(run), put_down(executor, writer, run.id):
        writer.take(run.id)
        extended = more or any("more" in one.data for one in store.events(run.id))
        again = executor.simulated and not extended and run.status in ("running", "interrupted")
        begin = _begin if again else past
        task, scheduler, journal = begin(store, run)
        check_was_out_of_budget(scheduler, more)
        base_s = scheduler.ledger.wall_s + scheduler.ledger.lost_s()
        live = Live(executor, clock, base_s, scheduler.limits)
        work = Work(scheduler, journal, live, task, watcher)
        watcher.opening(task)
        opened = _opened(live, task, writer, more)
        work.send(scheduler.claims.values())
        work.go_on(opened, writer)
    return told(store, run.id, watcher)


def _opened(live: Live, task: Task, writer: Writer, more: Budget | None = None) -> Opened:
    """Open the executor with what is known of the task's sensitivity; keep what it finds.

    Raises:
        InsensitiveTask: the task's own comparison would accept a wrong answer.
    """
    digest = content_hash(task)
    known = writer.store.sensitivity(digest)
    try:
        opened = live.open(task, more, known)
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


@contextmanager
def repeatable(run: Run) -> Iterator[None]:
    """Say what it means that a run's past cannot be repeated.

    Raises:
        StoreError: the body met a difference.
    """
    try:
        yield
    except DifferenceError as problem:
        raise StoreError(
            f"run {run.id} cannot be continued, its decisions come out differently: {problem}",
            hint="it was made by another version; start a new run with --start best.*",
        ) from problem


@contextmanager
def put_down(executor: Executor, writer: Writer, run_id: str) -> Iterator[None]:
    """However the body ends: nothing runs on, and nobody holds the run."""
    try:
        yield
    finally:
        try:
            executor.close()
        finally:
            writer.release(run_id)


def _begin(store: Store, run: Run) -> tuple[Task, Scheduler, Journal]:
    task = store.task(run.spec.task)
    start = [store.candidate(run.id, one) for one in run.spec.start]
    with readable(f"run {run.id}"):
        notes = {"plans": run.notes["plans"]}
    fresh = run.model_copy(update={"status": "running", "best": "", "notes": notes})
    return task, Scheduler(fresh, task, start), Journal(store, run)


def told(store: Store, run_id: str, watcher: Observer) -> RunSummary:
    """What became of a run that is put down: its folder is written, and whoever watches is told."""
    summary = summarise(store, run_id)
    if store.keeps_files:
        try:
            folders.export(store, run_id, sources=summary.sources())
        except StoreError as problem:  # the run is over, and its answer is due
            _log.warning("%s; %s", problem.message, problem.hint)
    watcher.stopped(summary)
    return summary
