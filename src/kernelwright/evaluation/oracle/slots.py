"""The wire form of a worker's arguments as arrays and numbers by name."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from kernelwright.evaluation.arena import Arena, Placed
from kernelwright.records.task import Task
from kernelwright.tasks.contract import scalar_value


@dataclass(frozen=True)
class Bound:
    """The arguments of one call, in shared memory."""

    inputs: dict[str, NDArray[Any]]
    outputs: list[NDArray[Any]]
    scalars: dict[str, float | int | bool]


def bind_slots(
    task: Task, arenas: dict[str, Arena], slots: list[list[dict[str, Any]]]
) -> list[Bound]:
    """One :class:`Bound` for each slot.

    Args:
        task: names its scalars, which the wire does not.
        arenas: where the tensors lie, by the name that each argument gives.
        slots: arguments in the order of the contract.
    """
    found = []
    for slot in slots:
        inputs, outputs, numbers = {}, [], []
        for item in slot:
            if item["t"] == "tensor":
                place, arena = Placed.from_json(item["place"]), arenas[item["arena"]]
                if item["role"] == "input":
                    inputs[place.name] = arena.view(place)
                else:
                    outputs.append(arena.view(place))
            elif item["t"] == "scalar":
                numbers.append(scalar_value(str(item["dtype"]), item["value"]))
        names = [one.name for one in task.scalars]
        found.append(Bound(inputs, outputs, dict(zip(names, numbers, strict=True))))
    return found
