"""Confirm a stored run's best: fresh build, fresh processes, fresh seeds, every baseline.

For a run that has no confirmed number yet, its leader is confirmed; for another, its best again.
What it costs is not taken from the run's budget. The newest confirm of a candidate is the one
that counts, also where it says less than the one before; earlier ones are shown beside it. RUN
is an id, the beginning of one, or "latest". The answer and the exit codes are those of optimize.
"""

from typing import Annotated

from pydantic import Field

from kernelwright.search.addendum import confirm_run
from kernelwright.search.observer import Observer
from kernelwright.verbs import base, entrants, setup
from kernelwright.verbs.run_answer import RunAnswer


class Request(base.Request):
    """Which run."""

    run: Annotated[str, base.Positional()] = Field(description="id, its beginning, or latest")
    store: str | None = Field(None, description="file or database URL that keeps every run")


class Answer(RunAnswer):
    """What the run found, with the new number."""


def run(request: Request, *, observer: Observer | None = None) -> Answer:
    """Confirm, with the threads, sandbox, compiler and seed that the run began with."""
    entrants.must_name_a_run(request.run)
    settings = request.settings()
    with setup.store(settings, new=False) as store:
        found = store.run(request.run)
        executor = setup.executor_of(found, settings)
        return Answer.of(confirm_run(store, executor, found.id, observer=observer))
