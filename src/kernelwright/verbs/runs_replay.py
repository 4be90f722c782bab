"""Repeat every decision of a stored run, without a device, and compare.

A difference means that this version would not search as the stored run did. RUN is an id, the
beginning of one, or "latest". Exit code 3: the decisions differ.
"""

from typing import Annotated

from pydantic import Field

from kernelwright.search.replay import replay_run
from kernelwright.verbs import base, setup


class Request(base.Request):
    """Which run."""

    run: Annotated[str, base.Positional()] = Field(description="id, its beginning, or latest")
    store: str | None = Field(None, description="file or database URL that keeps every run")


class Answer(base.Answer):
    """Whether every stored decision was reproduced."""

    run: str
    decisions: int
    matches: bool
    first_difference: str

    def exit_code(self) -> int:
        """3 when a decision differs."""
        return 0 if self.matches else 3

    def text(self) -> str:
        """One line, or two."""
        if self.matches:
            return f"run {self.run}: all {self.decisions} decisions reproduced"
        return f"run {self.run}: decisions differ\nfirst      {self.first_difference}"


def run(request: Request, *, observer: object = None) -> Answer:
    """Replay from the store."""
    with setup.store(request.settings(), writable=False) as store:
        report = replay_run(store, store.run(request.run).id)
    return Answer(
        run=report.run,
        decisions=report.decisions,
        matches=report.matches,
        first_difference=report.first_difference,
    )
