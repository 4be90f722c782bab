"""Arguments as a Python candidate gets them: tensors that view our memory, plain numbers."""

from __future__ import annotations

import ctypes
import math
import random
from collections.abc import Sequence
from typing import Any

import torch

LARGE, PIECES = 1 << 18, 64
"""Bytes from which a copy takes long, and into how many parts it is made then."""
SHUFFLE = random.SystemRandom().shuffle


def elements(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to the last one addressed."""
    if 0 in shape:
        return 0
    return 1 + sum((extent - 1) * step for extent, step in zip(shape, strides, strict=True))


def pieces(shape: Sequence[int], size: int) -> list[Any]:
    """Indices that together copy a whole tensor, in an order that nobody can know.

    Whoever copies from the front lets work that is still going on stay ahead of it.

    Args:
        shape: of the tensor.
        size: bytes of an element.
    """
    if math.prod(shape) * size < LARGE:
        return [...]
    axis = max(range(len(shape)), key=lambda one: shape[one])
    step = -(-shape[axis] // PIECES)
    starts = list(range(0, shape[axis], step))
    SHUFFLE(starts)
    return [(slice(None),) * axis + (slice(one, one + step),) for one in starts]


class Arenas:
    """Mapped memory by name.

    Args:
        mapped: address and size in bytes of each.
    """

    def __init__(self, mapped: dict[str, tuple[int, int]]) -> None:
        self._mapped = mapped

    def ranges(self) -> list[tuple[int, int]]:
        """First address and end of each."""
        return [(start, start + size) for start, size in self._mapped.values()]

    def address(self, argument: dict[str, Any]) -> int:
        """Of the first element of a tensor."""
        return self._mapped[argument["arena"]][0] + int(argument["place"]["offset"])

    def tensor(self, argument: dict[str, Any]) -> torch.Tensor:
        """A tensor that views our memory and owns nothing."""
        place = argument["place"]
        dtype, shape = getattr(torch, place["dtype"]), place["shape"]
        count = elements(shape, place["strides"])
        if not count:
            return torch.empty(shape, dtype=dtype)
        memory = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(self.address(argument))
        return torch.frombuffer(memory, dtype=dtype).as_strided(shape, place["strides"])


def touch(*values: Any) -> None:
    """Read every tensor, as a kernel would, so that what comes next has caches as cold."""
    for value in values:
        if isinstance(value, torch.Tensor):
            value.clone()


def number(argument: dict[str, Any]) -> float | int | bool:
    """A scalar or an axis as Python has it, rounded to its type."""
    value = argument["value"]
    if argument["t"] == "axis":
        return int(value)
    if argument["dtype"] == "float32":
        return float(ctypes.c_float(value).value)
    if argument["dtype"] == "float64":
        return float(value)
    return bool(value) if argument["dtype"] == "bool" else int(value)
