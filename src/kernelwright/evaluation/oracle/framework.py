"""A torch reference: a function or a model, its tensors bound by name, in four arithmetics.

A model's parameters and used buffers are inputs of the task; everything else about it is part of
what is computed. Each evaluation works on a copy, so a model that changes itself harms none.
"""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from kernelwright.evaluation.oracle.fault import Fault, user_code
from kernelwright.evaluation.oracle.promotion import Promoted, Serial
from kernelwright.evaluation.oracle.returned import check_unchanged
from kernelwright.evaluation.oracle.source import (
    bind,
    drawn,
    entry_of,
    flatten,
    load,
    seed_everything,
    slots_for,
)
from kernelwright.evaluation.oracle.tensors import array_of, is_tensor, tensor_of
from kernelwright.evaluation.oracle.torch_contraction import Contracted
from kernelwright.records.task import Case, Task
from kernelwright.tasks.contract import scalar_value
from kernelwright.tasks.identifier import identifier

Array = NDArray[Any]
_EXACT = torch.float64
JITTER = 0.25
_ACCUMULATED: dict[str, type[Promoted]] = {"serial": Serial, "contracted": Contracted}


class TorchProgram:
    """A reference of kind ``torch`` or ``kernelbench``.

    Args:
        task: whose reference.

    Raises:
        Fault: the file raises, or lacks the entry.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.module, self.function = load(task.reference)
        self.model: Any = None
        self.states: dict[str, str] = {}
        self.harmless: set[object] = set()
        """Shapes at which it was seen to leave its inputs alone."""
        call = self.function
        if task.reference.kind == "kernelbench":
            self.model = build_model(self.module, self.function, 0)
            call = self.model.forward
        self.slots = slots_for(task, self.module, call, torch)
        if self.model is not None:
            taken = {task.entry} | {slot.name for slot in self.slots if slot.kind != "constant"}
            known = {item.name for item in task.inputs}
            names = state_names(self.model, taken)
            self.states = {path: name for path, name in names.items() if name in known}

    def evaluate(self, part: str, case: Case, contents: Mapping[str, Array]) -> list[Array]:
        """The flat outputs for ``contents``, as :meth:`NumericProgram.evaluate` does it.

        Raises:
            Fault: the reference raises, changes an input, or returns something that is no tensor.
        """
        tensors = {
            item.name: tensor_of(np.array(contents[item.name], order="C")) for item in case.inputs
        }
        wide = _EXACT
        if part in _ACCUMULATED:
            wide = getattr(torch, self.task.accumulate)
            for tensor in tensors.values():
                if tensor.is_floating_point() and tensor.dtype.itemsize > 1:
                    wide = torch.promote_types(wide, tensor.dtype)
        if part != "native":
            tensors = {
                name: one.to(wide) if one.is_floating_point() else one
                for name, one in tensors.items()
            }
        scalars = {one.name: scalar_value(one.dtype, one.value) for one in case.scalars}
        if part == "native":
            found = [array_of(one) for one in self.call(tensors, scalars)]
            self._check_unchanged(contents, tensors)
            return found
        before = torch.get_default_dtype()
        torch.set_default_dtype(wide)
        try:
            with _ACCUMULATED.get(part, Promoted)(wide):
                found = [array_of(one) for one in self.call(tensors, scalars, wide)]
            self._check_unchanged(contents, tensors)
            return found
        finally:
            torch.set_default_dtype(before)

    def _check_unchanged(self, contents: Mapping[str, Array], tensors: Mapping[str, Any]) -> None:
        """Once for each set of shapes; a model may change its own state, of which it has a copy."""
        names = [slot.name for slot in self.slots if slot.kind == "tensor"]
        shapes = tuple(contents[name].shape for name in names)
        if shapes not in self.harmless:
            check_unchanged(contents, {name: array_of(tensors[name]) for name in names})
            self.harmless.add(shapes)

    def call(self, tensors: Mapping[str, Any], scalars: Mapping[str, Any], wide: Any = None) -> Any:
        """The tensors that the reference returns, flat.

        Args:
            tensors: inputs, parameters and buffers by name.
            scalars: by name.
            wide: convert the rest of the model to this float type.
        """
        function = self.function
        if self.model is not None:
            function = copy.deepcopy(self.model)
            if wide is not None:
                convert(function, wide)
            place_states(function, {path: tensors[name] for path, name in self.states.items()})
        arguments = bind(self.slots, tensors, scalars)
        with user_code("the reference"), torch.no_grad():
            result = function(*arguments)
        return outputs_of(result)

    def given(self, seed: int) -> dict[str, Array]:
        """Inputs by the file's ``get_inputs``, parameters as initialised and then moved.

        Raises:
            Fault: the file raises or returns another number of arguments.
        """
        found = {}
        wanted = {item.name for item in self.task.inputs if item.values.kind == "given"}
        if wanted & {slot.name for slot in self.slots}:
            values = drawn(self.module, seed, torch)
            if len(values) != len(self.slots):
                raise Fault("count", f"get_inputs() returned {len(values)} arguments this time")
            for slot, value in zip(self.slots, values, strict=True):
                if slot.kind == "tensor":
                    found[slot.name] = array_of(value)
        if self.model is not None:
            model = build_model(self.module, self.function, seed)
            randomise(model, seed)
            states = model.state_dict()
            found |= {name: array_of(states[path]) for path, name in self.states.items()}
        return found


def build_model(module: Any, kind: Any, seed: int) -> Any:
    """An instance of the user's model, initialised under ``seed``.

    Raises:
        Fault: its constructor raises.
    """
    seed_everything(seed, torch)
    with user_code("building the model"):
        found = entry_of(module, "get_init_inputs")() if hasattr(module, "get_init_inputs") else []
        if isinstance(found, Mapping):
            return kind(**found)
        return kind(*found)


def randomise(model: Any, seed: int) -> None:
    """Move every float parameter and buffer that holds one value only.

    Zero biases and unit scales would let a kernel leave them out. Values only grow, so that a
    variance stays positive.
    """
    random = torch.Generator().manual_seed(seed % (1 << 63))
    with torch.no_grad():
        for state in model.state_dict().values():
            if (
                state.is_floating_point()
                and state.numel()
                and bool((state == state.flatten()[0]).all())
            ):
                noise = torch.rand(state.shape, generator=random, dtype=torch.float32)
                state.add_((JITTER * noise).to(state.dtype))


def state_names(model: Any, taken: set[str]) -> dict[str, str]:
    """Parameters, then buffers, in the order of ``state_dict``: path to argument name."""
    parameters = [path for path, _ in model.named_parameters()]
    known = set(parameters)
    aliases = {path for path, _ in model.named_parameters(remove_duplicate=False)} - known
    buffers = [path for path in model.state_dict() if path not in known and path not in aliases]
    return {path: identifier(path, taken) for path in (*parameters, *buffers)}


def place_states(model: Any, tensors: Mapping[str, Any]) -> None:
    """Let the model's parameters and buffers be ``tensors``; shared ones stay shared."""
    parameters = dict(model.named_parameters(remove_duplicate=False))
    buffers = dict(model.named_buffers(remove_duplicate=False))
    for path, tensor in tensors.items():
        state = parameters[path] if path in parameters else buffers[path]
        state.data = tensor


def convert(model: Any, wide: Any) -> None:
    """Every float of a model in one type, tensors kept as plain attributes included."""
    model.to(wide)
    for part in model.modules():
        for name, value in list(vars(part).items()):
            if is_tensor(value) and value.is_floating_point():
                setattr(part, name, value.to(wide))


def outputs_of(result: Any) -> list[Any]:
    """The tensors in what a reference returned.

    Raises:
        Fault: something in it is no tensor.
    """
    found = [value for _, value in flatten(result)]
    for value in found:
        if not is_tensor(value):
            raise Fault("dtype", f"the reference returned a {type(value).__name__}, not a tensor")
    return found
