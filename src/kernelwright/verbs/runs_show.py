"""What one run asked, cost and found.

RUN is an id, the beginning of one, or "latest".
"""

from typing import Annotated

from pydantic import Field

from kernelwright.search.summary import summarise
from kernelwright.verbs import base, setup
from kernelwright.verbs.run_answer import RunAnswer


class Request(base.Request):
    """Which run."""

    run: Annotated[str, base.Positional()] = Field(description="id, its beginning, or latest")
    store: str | None = Field(None, description="file or database URL that keeps every run")


class Answer(RunAnswer):
    """What the run found; looking at it always succeeds."""

    def exit_code(self) -> int:
        """0: the question was answered, whatever the run found."""
        return 0


def run(request: Request, *, observer: object = None) -> Answer:
    """Read one run from the store."""
    with setup.store(request.settings(), writable=False) as store:
        return Answer.of(summarise(store, store.run(request.run).id))
