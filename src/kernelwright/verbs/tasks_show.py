"""Show what a task asks for; with --contract, the exact prototype of a candidate.

TASK is a built-in name, a folder with task.toml, a KernelBench file, or file.py:callable.
"""

from typing import Annotated, Any

from pydantic import Field

from kernelwright.records.candidate import Language
from kernelwright.records.sensitivity import policy_of
from kernelwright.records.task import Argument, Task, Tensor
from kernelwright.report import summary as report
from kernelwright.report import text
from kernelwright.tasks import contract
from kernelwright.verbs import base, setup


class Request(base.Request):
    """Which task, and which prototype."""

    task: Annotated[str, base.Positional()] = Field(description="name, path or file.py:callable")
    contract: Language | None = Field(None, description="print the prototype for this language")


class Answer(base.Answer):
    """The task, whole."""

    name: str
    summary: str
    contract: str
    """The prototype that was asked for, or the one for C++."""
    task: dict[str, Any]

    _task: Task
    _alone: bool

    def text(self) -> str:
        """The prototype alone when it was asked for, else everything."""
        return self.contract if self._alone else _described(self._task, self.contract)


def run(request: Request, *, observer: object = None) -> Answer:
    """Load the task and describe it."""
    task = setup.task(request.task)
    language = request.contract or "cpp"
    device = "gpu" if language in ("cuda", "triton") else "cpu"
    answer = Answer(
        name=task.name,
        summary=task.summary,
        contract=contract.prototype(task, language, "gpu" if device == "gpu" else "cpu"),
        task=task.model_dump(mode="json"),
    )
    answer._task, answer._alone = task, request.contract is not None
    return answer


def _described(task: Task, prototype: str) -> str:
    arguments = [
        (kind, item.name, _dtype(task, item), _shape(item))
        for kind, items in (
            ("input", task.inputs),
            ("output", task.outputs),
            ("scalar", task.scalars),
        )
        for item in items
    ]
    workloads = [
        (one.name, one.device, one.role, " ".join(f"{k}={v}" for k, v in one.axes.items()))
        for one in task.workloads
    ]
    accuracy = f"{report.policy(policy_of(task, None))}; honest sums are made in {task.accumulate}"
    return "\n\n".join(
        (
            f"{task.name}: {task.summary}".removesuffix(": "),
            text.table(("", "name", "type", "shape"), arguments),
            text.table(("workload", "device", "role", "axes"), workloads),
            accuracy,
            prototype,
        )
    )


def _dtype(task: Task, item: Argument) -> str:
    return task.types.get(item.dtype, item.dtype)


def _shape(item: Argument) -> str:
    if isinstance(item, Tensor):
        return f"[{', '.join(map(str, item.shape))}]" + (" strided" if item.strided else "")
    return f"= {getattr(item, 'value', '')}"
