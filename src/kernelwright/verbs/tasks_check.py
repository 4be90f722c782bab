"""Run a task's reference on every CPU workload, in the oracle's process, and report.

For each workload: the reference runs; shapes and types are the declared ones; the same inputs
give the same answer; every element is finite; and other inputs give another answer. TASK is a
built-in name, a folder with task.toml, a KernelBench file, or file.py:callable. Exit code 3: a
check failed.
"""

import time
from collections.abc import Mapping
from contextlib import closing
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from kernelwright.errors import TaskError, UsageError
from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.records.task import Case
from kernelwright.report import text
from kernelwright.tasks import contract
from kernelwright.verbs import base, setup

Found = Mapping[str, NDArray[Any]]


class Request(base.Request):
    """Which task."""

    task: Annotated[str, base.Positional()] = Field(description="name, path or file.py:callable")
    seed: int | None = Field(None, ge=0, description="seed of the inputs")


class Row(BaseModel):
    """What was found at one workload."""

    workload: str
    ok: bool
    problems: tuple[str, ...]
    outputs: dict[str, str]
    """Shape and type of each output."""
    seconds: float


class Answer(base.Answer):
    """What was found at every workload."""

    task: str
    ok: bool
    workloads: tuple[Row, ...]

    def exit_code(self) -> int:
        """3 when a check failed."""
        return 0 if self.ok else 3

    def text(self) -> str:
        """A table."""
        return text.table(
            ("workload", "verdict", "outputs", "s"),
            [
                (
                    one.workload,
                    "ok" if one.ok else "; ".join(one.problems),
                    ", ".join(f"{name} {what}" for name, what in one.outputs.items()),
                    f"{one.seconds:.1f}",
                )
                for one in self.workloads
            ],
            right="   r",
        )


def run(request: Request, *, observer: object = None) -> Answer:
    """Run the reference.

    Raises:
        TaskError: the task cannot be loaded.
        UsageError: it has no CPU workload.
    """
    settings = request.settings()
    task = setup.task(request.task)
    here = [one for one in task.workloads if one.device == "cpu"]
    if not here:
        raise UsageError(f"task {task.name!r} has no CPU workload")
    with closing(Oracle()) as oracle:
        oracle.load(task)
        answers = Answers(task, oracle, settings.seed)
        rows = tuple(_row(answers, contract.resolve(task, one)) for one in here)
    return Answer(task=task.name, ok=all(row.ok for row in rows), workloads=rows)


def _row(answers: Answers, case: Case) -> Row:
    began = time.monotonic()
    try:
        # The oracle itself refuses other shapes, types and answers that differ between two runs.
        first, other = (
            answers.oracle.truth(
                case, answers.draw(case, answers.seed(case.workload, number)), ("truth", "native")
            )["truth"]
            for number in range(2)
        )
        problems = problems_of(case, first, other)
    except TaskError as problem:
        problems = [problem.message]
    return Row(
        workload=case.workload,
        ok=not problems,
        problems=tuple(problems),
        outputs={one.name: f"{list(one.shape)} {one.dtype}" for one in case.outputs},
        seconds=time.monotonic() - began,
    )


def problems_of(case: Case, first: Found, other: Found) -> list[str]:
    """What is wrong with a reference's answers, a sentence each.

    Args:
        case: the declaration.
        first: the answers to one draw of the inputs.
        other: the answers to another draw.
    """
    said = []
    for item in case.outputs:
        answer = first[item.name]
        infinite = int(np.count_nonzero(~np.isfinite(answer)))
        if infinite:
            said.append(f"{item.name} has {infinite} elements that are not finite")
        if answer.size and np.array_equal(answer, other[item.name], equal_nan=True):
            said.append(f"{item.name} does not depend on the inputs")
    return said
