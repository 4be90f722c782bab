"""Show what a task asks for; with --contract, the exact prototype of a candidate.

TASK is a built-in name, a folder with task.toml, a KernelBench file, or file.py:callable.
"""

from typing import Annotated, Any

from pydantic import Field

from kernelwright.records.task import Argument, Task, Tensor
from kernelwright.report import text
from kernelwright.tasks import contract
from kernelwright.tasks.notes import BITS, accuracy
from kernelwright.verbs import base, setup


class Request(base.Request):
    """Which task, and which prototype."""

    task: Annotated[str, base.Positional()] = Field(description="name, path or file.py:callable")
    contract: str | None = Field(None, description="print the prototype for this language")


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


def run(request: Request, *, observer: object = None, task: Task | None = None) -> Answer:
    """Load the task, unless a face has done so already, and describe it."""
    task = task or setup.task(request.task)
    answer = Answer(
        name=task.name,
        summary=task.summary,
        contract=contract.prototype(task, request.contract or "cpp"),
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
    return "\n\n".join(
        (
            f"{task.name}: {task.summary}".removesuffix(": "),
            text.table(("", "name", "type", "shape"), arguments),
            text.table(("workload", "device", "role", "axes"), workloads),
            f"{_accuracy(task)}\n{BITS[task.determinism]}",
            prototype,
        )
    )


def _accuracy(task: Task) -> str:
    """How exact a candidate must be, on each device where that differs."""
    found = {}
    for device in ("cpu", "gpu"):
        chosen = contract.workload(task, device)
        if chosen:
            found[device] = accuracy(task, contract.resolve(task, chosen))
    if len(set(found.values())) == 1:
        return next(iter(found.values()))
    return "\n".join(f"on {device}: {words}" for device, words in found.items())


def _dtype(task: Task, item: Argument) -> str:
    return task.types.get(item.dtype, item.dtype)


def _shape(item: Argument) -> str:
    if isinstance(item, Tensor):
        return f"[{', '.join(map(str, item.shape))}]" + (" strided" if item.strided else "")
    return f"= {getattr(item, 'value', '')}"
