"""List the built-in tasks.

A task of your own needs no listing: optimize, evaluate and tasks show take a path.
"""

from typing import Annotated

from pydantic import BaseModel, Field

from kernelwright import plugins
from kernelwright.errors import UsageError
from kernelwright.records.task import Task
from kernelwright.report import text
from kernelwright.tasks import suites
from kernelwright.tasks.load import load_task
from kernelwright.verbs import base, setup


class Request(base.Request):
    """Which suite."""

    suite: Annotated[str | None, base.Positional()] = Field(None, description="only this suite")


class Row(BaseModel):
    """One task."""

    name: str
    suite: str
    op: str
    summary: str
    workloads: dict[str, int]
    """How many on each kind of device."""


class Answer(base.ListAnswer):
    """Every built-in task."""

    tasks: tuple[Row, ...]

    def rows(self) -> tuple[Row, ...]:
        """One object a task."""
        return self.tasks

    def text(self) -> str:
        """A table."""
        return text.table(
            ("task", "suite", "cpu", "gpu", "summary"),
            [
                (
                    one.name,
                    one.suite,
                    one.workloads.get("cpu", 0),
                    one.workloads.get("gpu", 0),
                    one.summary,
                )
                for one in self.tasks
            ],
            right="  rr",
        )


def run(request: Request, *, observer: object = None) -> Answer:
    """Read the suites."""
    found = suites.suites()
    if request.suite is not None and request.suite not in found:
        raise UsageError(
            f"unknown suite {request.suite!r}", hint=plugins.nearest(request.suite, tuple(found))
        )
    rows = [
        _row(suite, load_task(name, inspector=setup.inspector))
        for suite, names in found.items()
        if request.suite in (None, suite)
        for name in names
    ]
    return Answer(tasks=tuple(rows))


def _row(suite: str, task: Task) -> Row:
    counts: dict[str, int] = {}
    for workload in task.workloads:
        counts[workload.device] = counts.get(workload.device, 0) + 1
    return Row(name=task.name, suite=suite, op=task.op, summary=task.summary, workloads=counts)
