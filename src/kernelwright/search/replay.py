"""Audit replay: the stored run, fed through the same code, must give the same decisions."""

from dataclasses import dataclass

from kernelwright.search.journal import DifferenceError
from kernelwright.search.loop import past
from kernelwright.store.store import Store


@dataclass(frozen=True)
class ReplayReport:
    """Whether every stored decision was reproduced."""

    run: str
    decisions: int
    """Decisions compared: proposals, dispatches, evaluations, posts and events."""
    matches: bool
    first_difference: str = ""


def replay_run(store: Store, run_id: str) -> ReplayReport:
    """Repeat every decision of a stored run with no device; writes nothing.

    Raises:
        UsageError: no such run.
    """
    run = store.run(run_id)
    try:
        _, scheduler, journal = past(store, run)
    except DifferenceError as problem:
        return ReplayReport(run.id, 0, matches=False, first_difference=str(problem))
    again = scheduler.run
    finished = run.status not in ("running", "interrupted")
    if finished and (again.status, again.best) != (run.status, run.best):
        text = f"the run ended {run.status} {run.best}, now {again.status} {again.best}"
        return ReplayReport(run.id, journal.compared, matches=False, first_difference=text)
    return ReplayReport(run.id, journal.compared, matches=True)
