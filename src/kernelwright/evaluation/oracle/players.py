"""The reference as a numpy baseline: called as written, results copied out afterwards."""

from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from kernelwright.evaluation.oracle.fault import Fault, user_code
from kernelwright.evaluation.oracle.numeric import NumericProgram
from kernelwright.evaluation.oracle.slots import Bound
from kernelwright.evaluation.oracle.source import bind, flatten
from kernelwright.records.task import Task


class NumpyPlayer:
    """The baseline ``numpy``.

    Args:
        task: its reference must be of kind ``array`` or ``numpy``.

    Raises:
        Fault: the reference needs torch, or does not load.
    """

    def __init__(self, task: Task) -> None:
        if task.reference.kind not in ("array", "numpy"):
            raise Fault("unavailable", "the reference needs torch")
        self.program = NumericProgram(task)
        self.bound: list[Bound] = []
        self.calls: list[list[Any]] = []
        self.current: list[Any] = []

    def bind(self, bound: list[Bound]) -> bool:
        """Make the arguments of every slot ready; whether calls like them were made before.

        Raises:
            Fault: a type that numpy computes in so slowly that a comparison would flatter.
        """
        for array in (one for slot in bound for one in slot.inputs.values()):
            if "float" in array.dtype.name and array.dtype.itemsize < 4:
                raise Fault("unavailable", f"numpy has no fast {array.dtype.name}")
        known, self.bound = bool(self.bound), bound
        self.calls = [
            [*self.program.prefix, *bind(self.program.slots, slot.inputs, slot.scalars)]
            for slot in bound
        ]
        return known

    def prepare(self, number: int) -> None:
        """Choose the slot of the next call."""
        self.current = self.calls[number]

    def mode(self) -> AbstractContextManager[object]:
        """In what the calls of a block are made."""
        return np.errstate(all="ignore")

    def call(self) -> Any:
        """What is timed."""
        return self.program.function(*self.current)

    def finish(self, number: int, result: Any) -> None:
        """Copy the result to where the verifier looks."""
        with user_code("the reference"):
            values = [np.asarray(value) for _, value in flatten(result)]
        for place, value in zip(self.bound[number].outputs, values, strict=True):
            place[...] = value
