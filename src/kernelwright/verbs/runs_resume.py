"""Go on with a run that was interrupted or killed.

What was judged stays judged, and spent budget stays spent. RUN is an id, the beginning of one, or
"latest". The answer and the exit codes are those of optimize.
"""

from typing import Annotated

from pydantic import Field

from kernelwright.search.loop import resume_run
from kernelwright.search.observer import Observer
from kernelwright.settings import Settings
from kernelwright.verbs import base, setup
from kernelwright.verbs.run_answer import RunAnswer


class Request(base.Request):
    """Which run."""

    run: Annotated[str, base.Positional()] = Field(description="id, its beginning, or latest")
    store: str | None = Field(None, description="file or database URL that keeps every run")


class Answer(RunAnswer):
    """What the run found, whole."""


def run(request: Request, *, observer: Observer | None = None) -> Answer:
    """Resume, with the threads, sandbox, compiler and seed that the run began with."""
    settings = request.settings()
    with setup.store(settings) as store:
        found = store.run(request.run)
        spec = found.spec
        fixed = {
            "threads": spec.threads,
            "sandbox": spec.sandbox,
            "compiler": spec.compiler,
            "seed": spec.seed,
        }
        executor = setup.executor(Settings.load(settings.model_dump() | fixed))
        with setup.resumable(store, found.id):
            return Answer.of(resume_run(store, executor, found.id, observer=observer))
