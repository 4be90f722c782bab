"""Run a task's reference on every CPU workload, and see whether wrong answers would pass.

The reference must run, return the declared shapes and types, the same for the same inputs, and be
finite. Then wrong answers are made from its right ones (zeros, the mean, rows in another order,
the answer of another seed, a rounded one and others), and the task's own comparison must reject
each that is really wrong; every input must be able to change an output. What was seen is kept for
the next run. TASK is a built-in name, a folder with task.toml, a KernelBench file, or
file.py:callable. Exit code 3: a check failed; 2: the task cannot be read, or its reference does
not return.
"""

import time
from collections.abc import Mapping
from contextlib import closing
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from kernelwright.errors import UsageError
from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.cases import check_elements
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.evaluation.sensing import sense
from kernelwright.records.sensitivity import Control, Sensitivity
from kernelwright.records.task import Case, Task
from kernelwright.report import text
from kernelwright.tasks import contract
from kernelwright.verbs import base, sensitivity, setup

Found = Mapping[str, NDArray[Any]]
NO_ANSWER = ("raises", "missing", "deadline", "inputs", "entry")
"""Failures that are an error, not a row of the table: the next workload would tell no more."""
UNDEFINED = "let the inputs avoid values at which the reference is infinite or undefined"


class Request(base.Request):
    """Which task."""

    task: Annotated[str, base.Positional()] = Field(description="name, path or file.py:callable")
    seed: int | None = Field(None, ge=0, description="seed of the inputs")
    store: str | None = Field(None, description="file or database URL that keeps what was seen")


class Row(BaseModel):
    """What was found at one workload."""

    workload: str
    ok: bool
    problems: tuple[str, ...]
    hints: tuple[str, ...] = ()
    """What to do about them."""
    outputs: dict[str, str]
    """Shape and type of each output."""
    seconds: float


class Answer(base.Answer):
    """What was found at every workload."""

    task: str
    ok: bool
    workloads: tuple[Row, ...]
    sensitivity: Sensitivity | None
    """None where the reference does not work."""

    _not_kept: str = ""

    def exit_code(self) -> int:
        """3 when a check failed."""
        return 0 if self.ok else 3

    def text(self) -> str:
        """A table of the workloads, then one of the controls."""
        workloads = text.table(
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
        if self.sensitivity is None:
            return workloads
        return "\n\n".join((workloads, _table(self.sensitivity), _end(self.sensitivity)))

    def notes(self) -> list[str]:
        """What to do about a task that cannot be scored, and whether the next run knows."""
        hints = dict.fromkeys(hint for one in self.workloads for hint in one.hints)
        if self.sensitivity and self.sensitivity.hint:
            hints[self.sensitivity.hint] = None
        kept = [f"not kept for the next run: {self._not_kept}"] if self._not_kept else []
        return [*(f"hint: {hint}" for hint in hints), *kept]


def run(request: Request, *, observer: object = None, task: Task | None = None) -> Answer:
    """Run the reference and the controls.

    Args:
        request: which task.
        observer: unused.
        task: the task itself, where a face has loaded it already.

    Raises:
        TaskError: the task cannot be loaded, a workload asks for nothing, or the reference does
            not return.
        UsageError: it has no CPU workload.
    """
    settings = request.settings()
    task = task or setup.task(request.task)
    here = [one for one in task.workloads if one.device == "cpu"]
    if not here:
        raise UsageError(f"task {task.name!r} has no CPU workload")
    with closing(Oracle()) as oracle:
        oracle.load(task)
        answers = Answers(task, oracle, settings.seed)
        cases = [contract.resolve(task, one) for one in here]
        check_elements(task, cases)
        rows = [_row(answers, case) for case in cases]
        seen = sense(answers, cases) if all(row.ok for row in rows) else None
    ok = seen is not None and not seen.refused
    answer = Answer(task=task.name, ok=ok, workloads=tuple(rows), sensitivity=seen)
    if seen is not None:
        answer._not_kept = sensitivity.keep(settings, task, seen)
    return answer


def _row(answers: Answers, case: Case) -> Row:
    began = time.monotonic()
    hint = UNDEFINED
    try:
        # The oracle itself refuses other shapes, types and answers that differ between two runs.
        question = answers.base(case)
        problems = problems_of({one.name: one.truth for one in question.answers})
    except ReferenceFailure as failure:
        if failure.kind in NO_ANSWER:
            raise
        problems, hint = [failure.reason], failure.hint
    return Row(
        workload=case.workload,
        ok=not problems,
        problems=tuple(problems),
        hints=(hint,) if problems and hint else (),
        outputs={one.name: f"{list(one.shape)} {one.dtype}" for one in case.outputs},
        seconds=time.monotonic() - began,
    )


def problems_of(found: Found) -> list[str]:
    """What is wrong with a reference's answers, a sentence each."""
    said = []
    for name, answer in found.items():
        infinite = int(np.count_nonzero(~np.isfinite(answer)))
        if infinite:
            said.append(f"{name} has {infinite} elements that are not finite")
    return said


def _table(found: Sensitivity) -> str:
    """A line for each control of each output or input, a column for each workload."""
    cells: dict[tuple[str, str, str], dict[str, str]] = {}
    for one in found.workloads:
        for control in one.controls:
            key = (control.name.replace("_", " "), control.of, control.note)
            cells.setdefault(key, {})[one.workload] = _cell(control)
    names = [one.workload for one in found.workloads]
    return text.table(
        ("control", "of", "", *names),
        [(*key, *(row.get(name, "") for name in names)) for key, row in cells.items()],
    )


def _cell(control: Control) -> str:
    word = control.verdict.replace("_", " ")
    if control.verdict == "right" or control.tolerances is None:
        return word
    shown = word.upper() if control.verdict == "accepted" else word
    return f"{shown} ({control.tolerances:.2g} tolerances)"


def _end(found: Sensitivity) -> str:
    if found.refused:
        return found.reason
    if found.tightened_from:
        was, now = found.tightened_from, found.tolerance
        return (
            f"the tolerance is tightened from k = {was.k:g}, {was.ulps:g} ulp "
            f"to k = {now.k:g}, {now.ulps:g} ulp: a wrong answer would pass otherwise"
        )
    return "every wrong answer is rejected"
