"""List the runs in the store, newest first.

A run that cannot be read is listed as damaged, and why it cannot is said on standard error.
"""

import re
from typing import Literal

from pydantic import BaseModel, Field

from kernelwright.errors import StoreError, UsageError
from kernelwright.records.run import Run, Status, is_won
from kernelwright.report import text
from kernelwright.store.rows import HINT
from kernelwright.store.store import Store
from kernelwright.tasks import suites
from kernelwright.verbs import base, setup

_FRACTION = re.compile(r"\.\d+")


class Request(base.Request):
    """Which store."""

    task: str | None = Field(None, description="only runs of this task")
    store: str | None = Field(None, description="file or database URL that keeps every run")


class Row(BaseModel):
    """One run."""

    run: str
    task: str
    device: str
    status: Status | Literal["damaged"]
    effort: str
    best: str
    """Candidate whose win was confirmed; empty where none was."""
    wall_s: float
    evaluations: int
    created: str


class Answer(base.ListAnswer):
    """Every run."""

    runs: tuple[Row, ...]
    task: str | None = None
    """Only runs of this task were asked for."""
    damaged: tuple[str, ...] = ()
    """What is wrong with each run that cannot be read."""

    def rows(self) -> tuple[Row, ...]:
        """One object a run."""
        return self.runs

    def text(self) -> str:
        """A table, or nothing."""
        if not self.runs:
            return ""
        return text.table(
            ("run", "task", "device", "status", "effort", "s", "looks", "created"),
            [
                (
                    one.run,
                    one.task,
                    one.device,
                    one.status,
                    one.effort,
                    f"{one.wall_s:.0f}",
                    one.evaluations,
                    _FRACTION.sub("", one.created),
                )
                for one in self.runs
            ],
            right="     rr",
        )

    def notes(self) -> list[str]:
        """What is damaged, or what to do with an empty store."""
        if self.runs:
            return [*self.damaged, *([f"hint: {HINT}"] if self.damaged else [])]
        what = f"no runs of {self.task}" if self.task else "no runs yet"
        task = self.task if self.task in suites.names() else "TASK" if self.task else "softmax"
        return [f"{what}; next: kernelwright optimize {task}"]


def run(request: Request, *, observer: object = None) -> Answer:
    """Read the runs."""
    rows, damaged = [], []
    with setup.store(request.settings(), writable=False) as store:
        for name, found in store.all_runs(present=True).items():
            try:
                if isinstance(found, StoreError):
                    raise found
                rows.append(_row(store, found))
            except (StoreError, UsageError) as problem:
                rows.append(_unreadable(name))
                damaged.append(problem.message)
    shown = tuple(
        row for row in rows if request.task in (None, row.task) or row.status == "damaged"
    )
    return Answer(runs=shown, task=request.task, damaged=tuple(damaged))


def _row(store: Store, found: Run) -> Row:
    return Row(
        run=found.id,
        task=store.task(found.spec.task).name,
        device=found.spec.device,
        status=found.status,
        effort=found.spec.effort,
        best=found.best if is_won(found) else "",
        wall_s=found.spent.wall_s,
        evaluations=found.spent.evaluations,
        created=found.created,
    )


def _unreadable(name: str) -> Row:
    unknown = dict.fromkeys(("task", "device", "effort", "best", "created"), "")
    return Row(run=name, status="damaged", wall_s=0.0, evaluations=0, **unknown)
