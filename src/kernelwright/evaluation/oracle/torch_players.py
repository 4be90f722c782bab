"""The reference as torch baselines: as written, by the framework's single call, compiled.

A model's parameters point into shared memory before a call is timed, so it runs as its author
would run it, without a copy and without rebinding inside the window.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import array_api_compat.torch as torch_api
import torch

from kernelwright.evaluation.oracle.fault import Fault, user_code
from kernelwright.evaluation.oracle.framework import TorchProgram, outputs_of, place_states
from kernelwright.evaluation.oracle.slots import Bound
from kernelwright.evaluation.oracle.source import Slot, bind, entry_of, load, slots_for
from kernelwright.evaluation.oracle.tensors import tensor_of
from kernelwright.records.task import Task
from kernelwright.tasks.arrays import namespace


def torch_namespace() -> Any:
    """``xp`` on torch."""
    return namespace(torch_api, {"erf": torch.erf, "conv": conv})


def conv(
    x: Any, w: Any, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """``xp.conv`` on torch, see :func:`kernelwright.tasks.arrays.conv`."""
    rank = x.ndim - 2
    function = getattr(torch.nn.functional, f"conv{rank}d")
    return function(x, w, None, stride, padding, dilation, groups)


MOST_SHAPES = 6
"""Past 8 recompilations the framework silently stops compiling."""


class TorchPlayer:
    """One of the baselines ``eager``, ``fused`` and ``compile``.

    Args:
        task: of any kind that torch can run.
        name: which baseline.

    Raises:
        Fault: the reference works on numpy only, has no fused call, or does not load.
    """

    def __init__(self, task: Task, name: str) -> None:
        self.model: Any = None
        self.states: dict[str, str] = {}
        self.slots: list[Slot] = []
        if name == "fused":
            function = self._fused(task)
        elif task.reference.kind == "array":
            function = self._array(task)
        elif task.reference.kind == "numpy":
            raise Fault("unavailable", "the reference uses numpy")
        else:
            function = self._native(task)
        self.plain = self.function = function
        self.compiled = name == "compile"
        self.known: list[object] = []
        """Shapes of the inputs that it was called with."""
        self.bound: list[Bound] = []
        self.calls: list[list[Any]] = []
        self.tensors: list[dict[str, Any]] = []
        self.current: list[Any] = []

    def bind(self, bound: list[Bound]) -> bool:
        """Make the arguments of every slot ready; whether calls like them were made before."""
        self.bound = bound
        self.tensors = [
            {name: tensor_of(array) for name, array in slot.inputs.items()} for slot in bound
        ]
        self.calls = [
            bind(self.slots, tensors, slot.scalars)
            for tensors, slot in zip(self.tensors, bound, strict=True)
        ]
        if self.model is not None:
            self.model.requires_grad_(False)
        shapes = [(name, one.shape, one.dtype) for name, one in self.tensors[0].items()]
        if shapes in self.known:
            return True
        self._refuse_writers()
        if self.compiled and len(self.known) in (0, MOST_SHAPES):
            torch._dynamo.reset()
            self.known.clear()
            # Code for many shapes at once is slower than what its user would get for these.
            self.function = torch.compile(self.plain, dynamic=False)
        self.known.append(shapes)
        return False

    def _refuse_writers(self) -> None:
        """Call once on copies: inputs may lie in memory that this process must not write.

        Raises:
            Fault: the reference fails, or changes an input.
        """
        copies = {name: one.clone() for name, one in self.tensors[0].items()}
        if self.model is not None:
            place_states(self.model, {path: copies[name] for path, name in self.states.items()})
        with user_code("the reference"), torch.inference_mode():
            self.plain(*bind(self.slots, copies, self.bound[0].scalars))
        for name, one in self.tensors[0].items():
            if not _same_bits(one, copies[name]):
                raise Fault("unavailable", f"the reference writes into its input {name!r}")

    def prepare(self, number: int) -> None:
        """Choose the slot of the next call."""
        self.current = self.calls[number]
        if self.model is not None:
            tensors = self.tensors[number]
            place_states(self.model, {path: tensors[name] for path, name in self.states.items()})

    def mode(self) -> AbstractContextManager[object]:
        """In what the calls of a block are made, as those of a candidate are."""
        mode: AbstractContextManager[object] = torch.inference_mode()
        return mode

    def call(self) -> Any:
        """What is timed."""
        return self.function(*self.current)

    def finish(self, number: int, result: Any) -> None:
        """Copy the result to where the verifier looks."""
        with user_code("the reference"):
            values = outputs_of(result)
        for place, value in zip(self.bound[number].outputs, values, strict=True):
            tensor_of(place).copy_(value)

    def _native(self, task: Task) -> Callable[..., Any]:
        program = TorchProgram(task)
        self.slots, self.model, self.states = program.slots, program.model, program.states
        function: Callable[..., Any] = program.model or program.function
        return function

    def _array(self, task: Task) -> Callable[..., Any]:
        module, function = load(task.reference)
        self.slots = slots_for(task, module, function)
        xp = torch_namespace()
        return lambda *arguments: function(xp, *arguments)

    def _fused(self, task: Task) -> Callable[..., Any]:
        if not task.reference.fused:
            raise Fault("unavailable", "the framework has no single call for it")
        module, function = load(task.reference)
        self.slots = slots_for(task, module, function)
        fused = entry_of(module, "fused")
        return lambda *arguments: fused(torch, *arguments)


def _same_bits(left: Any, right: Any) -> bool:
    plain, other = (one.detach().contiguous().reshape(-1) for one in (left, right))
    return bool(torch.equal(plain.view(torch.uint8), other.view(torch.uint8)))
