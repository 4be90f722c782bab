"""What is added to a run that nobody works on: a confirm that was asked for, a note of an audit.

A confirm is one input and one step: whoever stops it midway leaves the run as it was. The newest
confirm of a candidate counts, whatever it says; the earlier ones stay in the store and are shown
beside it. An audit changes nothing that a run says of itself.
"""

import time
from collections.abc import Mapping
from typing import Any

from kernelwright.errors import UsageError
from kernelwright.executors.base import Executor, judged
from kernelwright.proposers.base import seed_from
from kernelwright.records.job import JudgeJob
from kernelwright.records.run import Run
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.search.inputs import Clock, Confirmed
from kernelwright.search.loop import past, put_down, repeatable, told
from kernelwright.search.observer import Observer
from kernelwright.search.rungs import plans_for
from kernelwright.search.summary import RunSummary, summarise
from kernelwright.store import folders
from kernelwright.store.rows import readable
from kernelwright.store.step import Event, Step
from kernelwright.store.store import Store
from kernelwright.store.writer import Writer


def confirm_run(
    store: Store,
    executor: Executor,
    run_id: str,
    *,
    observer: Observer | None = None,
    clock: Clock | None = None,
) -> RunSummary:
    """Confirm the best of a run again, or its leader if nothing was confirmed yet.

    Args:
        store: where the run is.
        executor: where it is judged; closed here, however this ends.
        run_id: which run.
        observer: who watches.
        clock: seconds, for a simulated device; default the machine's monotonic clock.

    Raises:
        UsageError: no such run, a living process works on it, or nobody in it can be confirmed.
        StoreError: the stored decisions cannot be reproduced by this version, or are damaged.
        UserError: the executor or the store cannot be used.
        JudgeError: the machinery broke; the run is as it was.
    """
    run, watcher = store.run(run_id), observer or Observer()
    writer, now = Writer(store), clock or time.monotonic
    known = summarise(store, run.id)
    closer = known.rejection.again(known.task.name) if known.rejection else ""
    otherwise = known.way_on() or closer or "optimize --effort thorough tries more"
    with repeatable(run), put_down(executor, writer, run.id):
        writer.take(run.id)
        task, scheduler, journal = past(store, run)
        candidate = scheduler.standings.asked_for()
        if candidate is None:
            raise UsageError(
                f"nobody in run {run.id} can be confirmed: no candidate passed a timed look",
                hint=otherwise,
            )
        watcher.promoted(candidate, Rung.CONFIRM)
        spec, began = run.spec, now()
        job = JudgeJob(
            number=0,  # the search numbers its own jobs; this one gets a number when it is stored
            task=task,
            candidate=candidate,
            plan=confirm_plan(run),
            seed=seed_from(spec.seed, "asked for", scheduler.ledger.evaluations),
            threads=spec.threads,
            sandbox=spec.sandbox,
        )
        decision = scheduler.take(Confirmed(judged(executor, job), now() - began))
        journal.writer = writer
        journal.commit(scheduler.run, decision.step)
        for notice in decision.notices:
            notice(watcher)
    return told(store, run.id, watcher)


def confirm_plan(run: Run) -> RungPlan:
    """What a confirm of a stored run's candidates does: what it began with, if it had one.

    Raises:
        StoreError: the run is damaged.
    """
    with readable(f"run {run.id}"):
        plans = {plan.rung: plan for plan in map(RungPlan.model_validate, run.notes["plans"])}
    return plans.get(Rung.CONFIRM) or plans_for(run.spec.effort)[Rung.CONFIRM]


def remember_audit(store: Store, run_id: str, told: Mapping[str, Any]) -> None:
    """Keep the answer of an audit beside the run.

    Raises:
        UsageError: a living process works on the run.
        StoreError: it could not be written.
    """
    writer = Writer(store)
    writer.take(run_id)
    try:
        step = Step(events=[Event("audited", dict(told))])
        writer.commit(store.run(run_id), step, release=True)
    finally:
        writer.release(run_id)
    if store.keeps_files:
        folders.export(store, run_id, sources=summarise(store, run_id).sources())
