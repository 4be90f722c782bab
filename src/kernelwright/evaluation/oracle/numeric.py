"""A numpy reference evaluated four ways: exactly, natively, serially, contracted.

``truth`` is float64 throughout, also where the code asks for float32 by name. ``native`` is the
reference as numpy runs it in the declared types, narrow ones summed in float32. ``serial`` is an
honest loop's arithmetic: the accumulate type, sums strictly in order, results rounded to the
declared type at the end. ``contracted`` is the accumulate type with a product and a sum of it
rounded once.
"""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.evaluation.arena import numpy_dtype
from kernelwright.evaluation.oracle.contraction import ContractedArray
from kernelwright.evaluation.oracle.fault import Fault, user_code
from kernelwright.evaluation.oracle.returned import check_unchanged
from kernelwright.evaluation.oracle.serial import NarrowArray, SerialArray
from kernelwright.evaluation.oracle.source import bind, drawn, flatten, load, slots_for
from kernelwright.evaluation.oracle.widening import widened
from kernelwright.records.task import Case, Task
from kernelwright.tasks.arrays import namespace
from kernelwright.tasks.contract import NARROW, scalar_value

Array = NDArray[Any]
_ACCUMULATED: dict[str, type[np.ndarray]] = {
    "serial": SerialArray,
    "contracted": ContractedArray,
}


class NumericProgram:
    """A reference of kind ``array`` or ``numpy``.

    Args:
        task: whose reference.

    Raises:
        Fault: the file raises, or lacks the entry.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.module, self.function = load(task.reference)
        self.prefix = [namespace()] if task.reference.kind == "array" else []
        self.slots = slots_for(task, self.module, self.function)
        self.harmless: set[object] = set()
        """Shapes at which it was seen to leave its inputs alone."""

    def evaluate(self, part: str, case: Case, contents: Mapping[str, Array]) -> list[Array]:
        """The flat outputs for ``contents``.

        Args:
            part: ``truth``, ``native``, ``serial`` or ``contracted``.
            case: shapes, dtypes and scalars.
            contents: the inputs by name; never changed.

        Raises:
            Fault: the reference raises, changes an input, or returns something that is no array.
        """
        wide = np.result_type(numpy_dtype(self.task.accumulate), np.float32)
        tensors = {}
        for item in case.inputs:
            array = np.array(contents[item.name], order="C")
            if "float" in item.dtype and part == "truth":
                array = array.astype(np.float64)
            elif "float" in item.dtype and part in _ACCUMULATED:
                # A wider declared type than the accumulate type stays as wide as it is.
                kept = numpy_dtype(item.dtype) if item.dtype not in NARROW else wide
                array = array.astype(np.result_type(kept, wide)).view(_ACCUMULATED[part])
            elif item.dtype in NARROW:
                array = array.view(NarrowArray)
            tensors[item.name] = array
        scalars = {one.name: scalar_value(one.dtype, one.value) for one in case.scalars}
        # Overflow and 0/0 are part of what is asked; the comparison looks at the results.
        exactly = widened(self.module) if part == "truth" else nullcontext()
        with user_code("the reference"), np.errstate(all="ignore"), exactly:
            shapes = tuple(item.shape for item in case.inputs)
            if part != "truth" or shapes in self.harmless:
                result = self._called(tensors, scalars)
            else:
                result = self._watched(tensors, scalars, contents)
                self.harmless.add(shapes)
        return [_array(value) for _, value in flatten(result)]

    def _called(self, tensors: Mapping[str, Any], scalars: Mapping[str, Any], *locked: str) -> Any:
        """What the reference returns while it cannot write into some of its inputs."""
        for name in locked:
            tensors[name].flags.writeable = False
        try:
            return self.function(*self.prefix, *bind(self.slots, tensors, scalars))
        finally:
            for name in locked:
                tensors[name].flags.writeable = True

    def _watched(
        self,
        tensors: Mapping[str, Any],
        scalars: Mapping[str, Any],
        contents: Mapping[str, Array],
    ) -> Any:
        """What the reference returns.

        Raises:
            Fault: it writes into an input, be it what stands there already.
        """
        try:
            result = self._called(tensors, scalars, *tensors)
            check_unchanged(contents, tensors)  # compiled code may not have asked
            return result
        except ValueError as problem:
            if not _is_refusal(problem):
                raise
        # Compiled code may ask for memory that it could write, and not do so.
        result = self._called(tensors, scalars)
        check_unchanged(contents, tensors)
        for name in tensors:
            try:
                self._called(tensors, scalars, name)
            except ValueError as problem:
                if _is_refusal(problem) and "buffer source" not in str(problem):
                    raise Fault("writes", f"the reference writes into its input {name!r}") from None
        return result

    def given(self, seed: int) -> dict[str, Array]:
        """The inputs that the task's own ``get_inputs`` draws, by name.

        Raises:
            Fault: it raises or returns another number of arguments.
        """
        values = drawn(self.module, seed)
        if len(values) != len(self.slots):
            raise Fault("count", f"get_inputs() returned {len(values)} arguments this time")
        pairs = zip(self.slots, values, strict=True)
        return {slot.name: np.asarray(value) for slot, value in pairs if slot.kind == "tensor"}


def _is_refusal(problem: ValueError) -> bool:
    return "read-only" in str(problem)


def _array(value: Any) -> Array:
    if not isinstance(value, np.ndarray | np.generic):
        raise Fault("dtype", f"the reference returned a {type(value).__name__}, not an array")
    plain = np.asarray(value)
    return plain.view(np.ndarray) if type(plain) is not np.ndarray else plain
