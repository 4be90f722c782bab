"""The workloads of a task on one device, with shapes and scalars filled in."""

import math
from collections.abc import Iterable

from kernelwright.errors import PrerequisiteError, TaskError
from kernelwright.records.task import Case, Task
from kernelwright.tasks import contract, edges

_ORDER = {"main": 0, "extra": 1, "smoke": 2}


class Cases:
    """The resolved workloads of a task on one device.

    Args:
        smoke: the smallest.
        timed: those that this rung times, main first.
        edge: shapes at the edges.
        hidden: neighbours of the main shape, from the secret.
    """

    def __init__(
        self, smoke: Case, timed: list[Case], edge: list[Case], hidden: list[Case]
    ) -> None:
        self.smoke = smoke
        self.timed = timed
        self.edge = edge
        self.hidden = hidden


def on_cpu(task: Task) -> Cases:
    """What a task asks for on the CPU; no hidden shapes.

    Raises:
        PrerequisiteError: it has no workload for it.
        TaskError: one of them asks for nothing.
    """
    workloads = [item for item in task.workloads if item.device == "cpu"]
    if not workloads:
        hint = "add a workload with device = 'cpu'"
        raise PrerequisiteError(f"task {task.name} has no workload for the CPU", hint)
    workloads.sort(key=lambda item: _ORDER[item.role])
    resolved = [(item.role, contract.resolve(task, item)) for item in workloads]
    timed = [case for role, case in resolved if role != "smoke"] or [resolved[0][1]]
    smoke = next((case for role, case in resolved if role == "smoke"), timed[0])
    check_elements(task, (smoke, *timed))
    return Cases(smoke, timed, edges.edge_cases(task, "cpu"), [])


def check_elements(task: Task, cases: Iterable[Case]) -> None:
    """Refuse a workload that asks for nothing.

    Raises:
        TaskError: one has no output elements.
    """
    for case in cases:
        if not any(math.prod(item.shape) for item in case.outputs):
            raise TaskError(
                f"workload {case.workload} of task {task.name} has no output elements: whatever a "
                "kernel does would be right",
                hint="give it sizes above 0; size 0 is tried as an edge anyway",
            )
