"""What the oracle does with a request: inspect a file, load a task, draw inputs, tell the truth.

One task at a time; nothing is kept between tasks.
"""

import time
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelwright.evaluation.arena import Arena, Layout, numpy_dtype
from kernelwright.evaluation.oracle.describe import describe
from kernelwright.evaluation.oracle.fault import Fault, import_torch
from kernelwright.evaluation.oracle.returned import check, check_repeatable, family
from kernelwright.records.task import Case, Shaped, Task

Array = NDArray[Any]


class Program(Protocol):
    """A loaded reference."""

    def evaluate(self, part: str, case: Case, contents: Mapping[str, Array]) -> list[Array]:
        """The flat outputs of one evaluation."""

    def given(self, seed: int) -> dict[str, Array]:
        """The inputs that the task's own code draws."""


class Session:
    """One loaded task and the answers about it."""

    def __init__(self) -> None:
        self.task: Task | None = None
        self.program: Program | None = None
        self.repeatable = False

    def answer(self, request: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
        """The answer to one request; the descriptors become arenas.

        Raises:
            Fault: the user's code does not work.
            ValueError: the request is none.
        """
        match request.get("do"):
            case "inspect":
                return {"description": describe(request)}
            case "load":
                self._load(Task.model_validate(request["task"]))
                return {}
        arena = Arena(descriptors[0], int(request["nbytes"]))
        try:
            case = Case.model_validate(request["case"])
            if request.get("do") == "generate":
                layout = Layout.from_json(request["layout"])
                self._generate(int(request["seed"]), case, arena, layout)
                return {}
            if request.get("do") == "truth":
                return {"seconds": self._truth(request, case, arena)}
            if request.get("do") == "interface":
                return {"interface": self._interface(case)}
        finally:
            arena.close()
        raise ValueError(f"unknown request {request.get('do')!r}")

    def _load(self, task: Task) -> None:
        self.task, self.program, self.repeatable = None, None, False
        if task.reference.kind in ("array", "numpy"):
            from kernelwright.evaluation.oracle.numeric import NumericProgram

            self.program = NumericProgram(task)
        else:
            import_torch()
            from kernelwright.evaluation.oracle.framework import TorchProgram

            self.program = TorchProgram(task)
        self.task = task

    def _generate(self, seed: int, case: Case, arena: Arena, layout: Layout) -> None:
        drawn = self._loaded().given(seed)
        places = {place.name: place for place in layout.tensors}
        for item in case.inputs:
            if item.values.kind != "given":
                continue
            if item.name not in drawn:
                raise Fault("count", f"input {item.name!r} was not drawn this time")
            found = drawn[item.name]
            if found.shape != item.shape or found.dtype != numpy_dtype(item.dtype):
                raise Fault(
                    "shape",
                    f"input {item.name!r} was drawn as {found.dtype} {found.shape}, "
                    f"before as {item.dtype} {item.shape}",
                )
            arena.view(places[item.name])[...] = found

    def _truth(self, request: dict[str, Any], case: Case, arena: Arena) -> dict[str, float]:
        program = self._loaded()
        layout = Layout.from_json(request["layout"])
        contents = {place.name: arena.view(place) for place in layout.tensors}
        seconds = {}
        for part, data in request["outputs"].items():
            started = time.monotonic()
            found = program.evaluate(part, case, contents)
            check(part, case, contents, found)
            if part == "truth" and not self.repeatable:
                again = program.evaluate(part, case, contents)
                check_repeatable(case, found, again)
                self.repeatable = True
            places = Layout.from_json(data).tensors
            for item, place, array in zip(case.outputs, places, found, strict=True):
                arena.view(place)[...] = _rounded(array, item, part)
            seconds[part] = time.monotonic() - started
        return seconds

    def _interface(self, case: Case) -> dict[str, Any]:
        import_torch()
        from kernelwright.evaluation.oracle.framework import TorchProgram
        from kernelwright.evaluation.oracle.model_interface import model_interface

        program = self._loaded()
        if not isinstance(program, TorchProgram):
            raise TypeError("the task has no model")
        return model_interface(program, case)

    def _loaded(self) -> Program:
        if self.program is None:
            raise ValueError("no task is loaded")
        return self.program


def _rounded(array: Array, item: Shaped, part: str) -> Array:
    """Honest evaluations end in the declared type; the truth stays as it is."""
    dtype = numpy_dtype(item.dtype)
    if part == "truth" or family(dtype) != "float":
        return array
    with np.errstate(over="ignore"):
        return array.astype(dtype).astype(np.float64)
