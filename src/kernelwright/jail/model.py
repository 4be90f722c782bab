"""KernelBench's ``ModelNew``: built once, its parameters pointed into our memory before each call.

What it returns is examined and copied after the clock has stopped. That is done for the reference
too, so the price is the same on both sides. Only where a result lies neither as the reference's
does nor contiguously, making it contiguous is part of the call.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from refusal import Refusal, theirs  # type: ignore[import-not-found]
from returned import (  # type: ignore[import-not-found]
    DTYPES,
    Output,
    copy,
    examine,
    laid_out,
    tensors_of,
)
from states import match  # type: ignore[import-not-found]
from tensors import Arenas, number, touch  # type: ignore[import-not-found]

NAME = "ModelNew"
PLAIN, SET_DATA = torch._C.DisableTorchFunction, torch._C.TensorBase.__dict__["data"].__set__
"""Between calls no code of a candidate's may run: it would not be timed."""
Range = tuple[int, int]


class Model:
    """A module that returns its outputs.

    Args:
        kind: the class.
        interface: ``init`` and ``named`` (encoded arguments of the constructor), ``forward``
            (where each argument comes from), ``scalars`` (their names), ``states`` (``path``,
            ``name``, ``shape``, ``dtype`` of parameters and buffers), ``outputs`` (of each
            ``aliased``: the reference itself returns memory of an input, and its ``strides``).
        tunables: more arguments of the constructor, by name.

    Raises:
        Refusal: it cannot be built, or its parameters are not the reference's.
    """

    def __init__(self, kind: Any, interface: dict[str, Any], tunables: dict[str, Any]) -> None:
        arguments = [decoded(one) for one in interface["init"]]
        named = {name: decoded(one) for name, one in interface["named"].items()}
        with theirs(f"building {NAME}"):
            model = kind(*arguments, **named, **tunables)
        if not isinstance(model, torch.nn.Module):
            raise Refusal("signature", f"{NAME} is no torch.nn.Module")
        with theirs(f"listing what {NAME} holds"):
            states = match(model, interface["states"])
        self._begin(model, interface, states)

    def _begin(
        self, model: Callable[..., Any], interface: dict[str, Any], states: list[tuple[Any, str]]
    ) -> None:
        self._model, self._interface, self._states = model, interface, states
        self._calls: list[Callable[[], Any]] = []
        self._places: list[list[tuple[Any, Any]]] = []
        self._outputs: list[list[Output]] = []
        self._ours: list[Range] = []
        self._earlier: deque[list[Range]] = deque(maxlen=1)

    def bind(self, slots: list[list[dict[str, Any]]], arenas: Arenas) -> None:
        """Prepare one call for each slot, its parameters and its outputs."""
        self._calls, self._places, self._outputs = [], [], []
        self._ours = arenas.ranges()
        for slot in slots:
            tensors = [one for one in slot if one["t"] == "tensor"]
            inputs = {
                one["place"]["name"]: arenas.tensor(one)
                for one in tensors
                if one["role"] == "input"
            }
            numbers = [number(one) for one in slot if one["t"] == "scalar"]
            known = inputs | dict(zip(self._interface["scalars"], numbers, strict=True))
            values = [
                known[one["name"]] if "name" in one else decoded(one["value"])
                for one in self._interface["forward"]
            ]
            self._calls.append(partial(self._model, *values))
            self._places.append([(state, inputs[name]) for state, name in self._states])
            outputs = [one for one in tensors if one["role"] == "output"]
            self._outputs.append(
                [
                    Output(arenas.address(one), one["place"], **own)
                    for one, own in zip(outputs, self._interface["outputs"], strict=True)
                ]
            )

    def hold(self, count: int) -> None:
        """Forget earlier results; so many of those to come stay alive while the next call runs."""
        self._earlier = deque(maxlen=count)

    def prepare(self, slot: int) -> Callable[[], Any]:
        """Let the parameters be those of one slot; what to call."""
        with PLAIN():
            for state, place in self._places[slot]:
                SET_DATA(state, place)
        return self._calls[slot]

    def finish(self, slot: int, result: Any) -> tuple[int, int]:
        """Examine what a call returned and copy it to where the verifier looks.

        Returns:
            The error code, which is 0, and nanoseconds of work that the call had left undone.

        Raises:
            Refusal: it is not what the contract asks for, or shares memory.
        """
        outputs = self._outputs[slot]
        found = tensors_of(result, outputs)
        with PLAIN():
            ranges = [examine(one, output) for one, output in zip(found, outputs, strict=True)]
        for one, output in zip(ranges, outputs, strict=True):
            if not output.aliased and _meets(one, self._ours):
                text = f"output {output.name} shares memory with an argument or a parameter"
                raise Refusal("aliased_output", text, "return a tensor of its own")
            if any(_meets(one, earlier) for earlier in self._earlier) and not output.aliased:
                text = f"output {output.name} shares memory with what an earlier call returned"
                raise Refusal("aliased_output", text, "return a fresh tensor from each call")
        self._earlier.append(ranges)
        left_ns = 0
        with PLAIN():
            for tensor, output in zip(found, outputs, strict=True):
                laid, took_ns = laid_out(tensor, output)
                left_ns += took_ns
                copy(laid, output)
        return 0, left_ns


class Rehearsal(Model):
    """Stands in for a candidate's: what its calls return has the right form, and is handled alike.

    Args:
        interface: as for :class:`Model`.
    """

    def __init__(self, interface: dict[str, Any]) -> None:
        wanted = interface["states"]
        states = [(torch.empty(one["shape"], dtype=DTYPES[one["dtype"]]), one["name"])
                  for one in wanted]  # fmt: skip
        self._begin(touch, interface, states)

    def prepare(self, slot: int) -> Callable[[], Any]:
        """As for any model; the call then makes outputs of its own."""
        return partial(self._made, super().prepare(slot), slot)

    def _made(self, call: Callable[[], None], slot: int) -> list[torch.Tensor]:
        call()
        return [_ones(output) for output in self._outputs[slot]]


def _ones(output: Output) -> torch.Tensor:
    """A fresh tensor of an output's form, every byte of it written."""
    if 0 in output.shape:
        return torch.empty(output.shape, dtype=output.dtype)
    count = math.prod(output.shape) * output.dtype.itemsize
    written = torch.full((count,), 1, dtype=torch.uint8)
    return written.view(output.dtype).view(output.shape)


def decoded(value: list[Any]) -> Any:
    """A plain value from its form on the wire: its kind and what it holds."""
    kind, inside = value
    if kind == "dict":
        return {decoded(key): decoded(one) for key, one in inside}
    if kind == "list":
        return [decoded(one) for one in inside]
    if kind == "tuple":
        return tuple(decoded(one) for one in inside)
    return inside


def _meets(one: Range, others: list[Range]) -> bool:
    return any(one[0] < end and start < one[1] for start, end in others)
