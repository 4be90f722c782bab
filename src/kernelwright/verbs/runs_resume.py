"""Go on with a run that was interrupted or killed, or give more budget to one that lacked it.

What was judged stays judged, and spent budget stays spent. With --minutes or --evaluations, which
add to what was given, a run that ended for want of budget goes on: first with the confirm of a
leader that passed its full look (one that passed only the screen gets that look before), then
with the search. RUN is an id, the beginning of one, or "latest". The
answer and the exit codes are those of optimize.
"""

from typing import Annotated

from pydantic import Field

from kernelwright.records.run import Budget
from kernelwright.search.loop import resume_run
from kernelwright.search.observer import Observer
from kernelwright.verbs import base, setup
from kernelwright.verbs.run_answer import RunAnswer


class Request(base.Request):
    """Which run, with how much more."""

    run: Annotated[str, base.Positional()] = Field(description="id, its beginning, or latest")
    minutes: float | None = Field(None, gt=0, description="wall time to add, in minutes")
    evaluations: int | None = Field(None, ge=1, description="looks at candidates to add")
    store: str | None = Field(None, description="file or database URL that keeps every run")


class Answer(RunAnswer):
    """What the run found, whole."""


def run(request: Request, *, observer: Observer | None = None) -> Answer:
    """Resume, with the threads, sandbox, compiler and seed that the run began with."""
    settings = request.settings()
    more = Budget(minutes=request.minutes, evaluations=request.evaluations)
    given = more if more != Budget() else None
    with setup.store(settings, new=False) as store:
        found = store.run(request.run)
        executor = setup.executor_of(found, settings)
        with setup.resumable(store, found.id):
            summary = resume_run(store, executor, found.id, more=given, observer=observer)
            return Answer.of(summary)
