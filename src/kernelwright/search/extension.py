"""Whether a run may go on, with more budget or without.

A budget given later is an input of the run, kept with the opening that brought it; the spec is
what it was. Refuses to add to a limit that the run does not have.
"""

from kernelwright.errors import UsageError
from kernelwright.records.run import Budget, Run
from kernelwright.search.scheduler import Scheduler


def check_can_go_on(run: Run, more: Budget | None) -> None:
    """Refuse what can be refused without looking into the past of the run.

    Raises:
        UsageError: the run is finished and nothing was given, or there is no limit to add to.
    """
    if more is None:
        if run.status not in ("running", "interrupted"):
            raise UsageError(
                f"run {run.id} is finished: {run.status}",
                hint="one that lacked budget goes on with more: "
                f"kernelwright runs resume {run.id} --minutes N or --evaluations N",
            )
        return
    limits = run.spec.budget.model_dump()
    for name, amount in more.model_dump(exclude_none=True).items():
        if limits[name] is None:
            other = next((f"add to its {one}" for one, limit in limits.items() if limit), "")
            raise UsageError(
                f"run {run.id} has no limit of {name}, so {amount:g} more change nothing",
                hint=other,
            )


def check_was_out_of_budget(scheduler: Scheduler) -> None:
    """Refuse a run that has ended for another reason than its budget.

    Raises:
        UsageError: more budget would change nothing.
    """
    run = scheduler.run
    if run.status != "running" and not scheduler.course.is_out_of_budget:
        raise UsageError(
            f"run {run.id} did not end for want of budget: {run.notes['reason']}",
            hint=f"start another from its winner: kernelwright ship {run.id} --as file "
            "--to best.cpp, then optimize with --start best.cpp",
        )
