"""Run a task's reference on every CPU workload, in the oracle's process, and report.

For each workload: the reference runs; it gives the same answer twice; every element is finite;
shapes and types are the declared ones; and other inputs give another answer. TASK is a built-in
name, a folder with task.toml, a KernelBench file, or file.py:callable. Exit code 3: a check
failed.
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
from kernelwright.evaluation.arena import numpy_dtype
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
    outputs: dict[str, str] = {}
    try:
        contents = answers.draw(case, answers.seed(case.workload, 0))
        found = answers.oracle.truth(case, contents, ("truth", "native"))
        again = answers.oracle.truth(case, contents, ("truth",))
        fresh = answers.draw(case, answers.seed(case.workload, 1))
        other = answers.oracle.truth(case, fresh, ("truth",))
        outputs = {
            name: f"{list(array.shape)} {array.dtype}" for name, array in found["native"].items()
        }
        problems = problems_of(case, found, again["truth"], other["truth"])
    except TaskError as problem:
        problems = [problem.message]
    return Row(
        workload=case.workload,
        ok=not problems,
        problems=tuple(problems),
        outputs=outputs,
        seconds=time.monotonic() - began,
    )


def problems_of(case: Case, found: Mapping[str, Found], again: Found, other: Found) -> list[str]:
    """What is wrong with a reference's answers, a sentence each.

    Args:
        case: the declaration.
        found: its float64 answers (``truth``) and those in the declared types (``native``).
        again: the float64 answers to the same inputs, a second time.
        other: the float64 answers to other inputs.
    """
    said = []
    for item in case.outputs:
        truth, native = found["truth"][item.name], found["native"][item.name]
        if native.shape != item.shape:
            said.append(f"{item.name} has shape {list(native.shape)}, not {list(item.shape)}")
            continue
        if native.dtype != numpy_dtype(item.dtype):
            said.append(f"{item.name} is {native.dtype}, not {item.dtype}")
        infinite = int(np.count_nonzero(~np.isfinite(truth)))
        if infinite:
            said.append(f"{item.name} has {infinite} elements that are not finite")
        if not np.array_equal(truth, again[item.name], equal_nan=True):
            said.append(f"{item.name} differs when the reference runs again")
        if truth.size and np.array_equal(truth, other[item.name], equal_nan=True):
            said.append(f"{item.name} does not depend on the inputs")
    return said
