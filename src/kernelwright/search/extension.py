"""Whether a run may go on, with more budget or without.

A budget given later is an input of the run, kept with the opening that brought it; the spec is
what it was. Refuses to add to a limit that the run does not have.
"""

from kernelwright.errors import UsageError
from kernelwright.records.run import Budget, Run, is_won
from kernelwright.search.scheduler import Scheduler


def check_can_go_on(run: Run, more: Budget | None) -> None:
    """Refuse what can be refused without looking into the past of the run.

    Raises:
        UsageError: there is no limit to add to.
    """
    if more is None:
        return
    limits = run.spec.budget.model_dump()
    for name, amount in more.model_dump(exclude_none=True).items():
        if limits[name] is None:
            other = next((f"add to its {one}" for one, limit in limits.items() if limit), "")
            raise UsageError(
                f"run {run.id} has no limit of {name}, so {amount:g} more change nothing",
                hint=other,
            )


def check_was_out_of_budget(scheduler: Scheduler, more: Budget | None) -> None:
    """Refuse a run that has ended for another reason than its budget, or that gets no more.

    Args:
        scheduler: fed with the run's past.
        more: what is given.

    Raises:
        UsageError: it would not go on.
    """
    run = scheduler.run
    if run.status == "running":
        return
    if not scheduler.course.is_out_of_budget:
        raise UsageError(
            f"run {run.id} is finished, and not for want of budget: {run.notes['reason']}",
            hint=_instead(scheduler),
        )
    if more is None:
        limits = [f"--{name} N" for name, limit in run.spec.budget.model_dump().items() if limit]
        raise UsageError(
            f"run {run.id} is finished: {run.status}",
            hint=f"it lacked budget and goes on with more: kernelwright runs resume {run.id} "
            + " or ".join(limits),
        )


def _instead(scheduler: Scheduler) -> str:
    """What to do with a run that more budget does not help."""
    run = scheduler.run
    if is_won(run):
        return (
            f"start another from its winner: kernelwright ship {run.id} --as file "
            "--to best.cpp, then optimize with --start best.cpp"
        )
    said = "it has nothing left to try; what would: a new run with your own kernel (--start FILE)"
    said += " or another proposer (--proposer NAME)"
    if scheduler.standings.asked_for() is None:
        return said
    return f"{said}; kernelwright confirm {run.id} measures its best again"
