"""Tensors that a candidate returned: looked at through functions it could not replace, then copied.

A tensor is taken for what it is only if its class *is* the framework's: a subclass could compute
when it is looked at. Attributes are read by the descriptors of the C base class, and bytes are
copied by address.
"""

from __future__ import annotations

import ctypes
import time
import weakref
from collections import OrderedDict
from typing import Any

import numpy as np
import torch
from refusal import Refusal  # type: ignore[import-not-found]
from tensors import elements, pieces  # type: ignore[import-not-found]

TENSOR, PARAMETER, STRIDED = torch.Tensor, torch.nn.Parameter, torch.strided
_BASE, _STORAGE = torch._C.TensorBase.__dict__, torch._C.StorageBase.__dict__
SHAPE, DTYPE, LAYOUT, CPU = _BASE["shape"], _BASE["dtype"], _BASE["layout"], _BASE["is_cpu"]
STRIDE, OFFSET, ADDRESS = _BASE["stride"], _BASE["storage_offset"], _BASE["data_ptr"]
STORAGE, BYTES = _BASE["untyped_storage"], _STORAGE["nbytes"]
CONJUGATE, NEGATIVE = _BASE["is_conj"], _BASE["is_neg"]
CONTIGUOUS, CLOCK = _BASE["contiguous"], time.perf_counter_ns
GRADIENT, BEFORE, VIEWED = _BASE["grad"], _BASE["grad_fn"], _BASE["_base"]
ITEMS, EACH, EACH_OF = dict.items, tuple.__iter__, list.__iter__
_KIND = type.__dict__
ANCESTORS, NAMES, NAME = (_KIND[name].__get__ for name in ("__mro__", "__dict__", "__qualname__"))
ROOM, ATTRIBUTES = _KIND["__basicsize__"].__get__, _KIND["__dictoffset__"].__get__
"""Of a class, read as ``type`` does it: a metaclass of the candidate's could answer otherwise."""
CONTAINERS, ORDERED = (dict, tuple, list), OrderedDict
OF_ORDERED = OrderedDict.__dict__["__dict__"].__get__
ARRAY, UNSIGNED = np.ndarray, {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
REFERENCES = weakref.getweakrefcount
DTYPES = {name: getattr(torch, name) for name in (
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int64", "int32",
    "int16", "int8", "uint8", "bool",
)}  # fmt: skip


class Output:
    """Where one output of the contract lies, and what it must be.

    Args:
        address: of its first element.
        place: its ``name``, ``shape``, ``strides`` and ``dtype``.
        aliased: whether the reference's own output shares memory with an input.
        strides: of the reference's own output, in elements.
    """

    def __init__(
        self, address: int, place: dict[str, Any], aliased: bool, strides: list[int]
    ) -> None:
        self.name = place["name"]
        self.shape = tuple(place["shape"])
        self.dtype = DTYPES[place["dtype"]]
        self.aliased = aliased
        self._strides = tuple(strides)
        self.array = _array(address, place["shape"], place["strides"], self.dtype.itemsize)

    def as_laid(self, one: Any) -> bool:
        """Whether an examined tensor lies as the reference's output does, or contiguously."""
        own = STRIDE(one)
        return own == self._strides or 0 in self.shape or self._dense(own)

    def _dense(self, own: tuple[int, ...]) -> bool:
        step = 1
        for extent, stride in zip(reversed(self.shape), reversed(own), strict=True):
            if extent > 1 and stride != step:
                return False
            step *= extent
        return True


def flat(result: Any, path: str = "") -> list[tuple[str, Any]]:
    """What is in a result with the keys that lead to it; nothing of the candidate's is called.

    Raises:
        Refusal: a container could hold more than it shows, or has keys that are no plain names.
    """
    kind = type(result)
    if kind is TENSOR:
        return [(path, result)]
    ancestors = ANCESTORS(kind)
    base = next((one for one in CONTAINERS if any(one is other for other in ancestors)), None)
    if base is None:
        return [(path, result)]
    _plain(result, kind, base)
    if base is dict:
        parts = [(_key(key), one) for key, one in ITEMS(result)]
    elif base is tuple:
        names = _fields(kind)
        parts = [(names[n] if n < len(names) else str(n), one)
                 for n, one in enumerate(EACH(result))]  # fmt: skip
    else:
        parts = [(str(n), one) for n, one in enumerate(EACH_OF(result))]
    return [item for key, one in parts for item in flat(one, f"{path}_{key}" if path else key)]


def _plain(result: Any, kind: Any, base: Any) -> None:
    """Refuse a container that acts, or holds something that may act, when it is let go."""
    if kind is base:
        return
    if kind is ORDERED:
        free = not OF_ORDERED(result) and not REFERENCES(result)
    else:
        free = not ATTRIBUTES(kind) and ROOM(kind) == ROOM(base)
    if not free or _own(kind, "__del__") is not None:
        text = f"a {NAME(kind)} was returned that could act when it is let go"
        raise Refusal("tampering", text, "return a plain dict, tuple or list, or a named tuple")


def _own(kind: Any, wanted: str) -> Any:
    """An attribute of a class or of its ancestors; nobody's ``__eq__`` or ``__hash__`` is asked."""
    for one in EACH(ANCESTORS(kind)):
        for name, value in NAMES(one).items():
            if type(name) is str and name == wanted:
                return value
    return None


def _fields(kind: Any) -> list[str]:
    """Names of a named tuple's places."""
    found = _own(kind, "_fields") if kind is not tuple else None
    names = list(EACH(found)) if type(found) is tuple else []
    return names if all(type(name) is str for name in names) else []


def _key(key: Any) -> str:
    if type(key) is not str and type(key) is not int:
        text = f"a key of the result is a {NAME(type(key))}, not a str"
        raise Refusal("signature", text, "return a dict with names as its keys")
    return str(key)


def tensors_of(result: Any, outputs: list[Output]) -> list[Any]:
    """The tensors of a result in the order of the contract.

    Raises:
        Refusal: another number of them.
    """
    found = flat(result)
    if len(found) != len(outputs):
        raise Refusal(
            "signature", f"{len(found)} values were returned, the task has {len(outputs)} outputs"
        )
    by_name = dict(found)
    if set(by_name) == {output.name for output in outputs}:
        return [by_name[output.name] for output in outputs]
    return [one for _, one in found]


def examine(one: Any, output: Output) -> tuple[int, int]:
    """Whether a returned value is what the contract asks for; the bytes of its storage.

    Returns:
        First address and end of its storage; both 0 if it has none.

    Raises:
        Refusal: with the kind of what is wrong.
    """
    kind = type(one)
    if kind is PARAMETER:
        hint = "return a plain tensor, for instance its .detach().clone()"
        raise Refusal("signature", f"output {output.name} is a Parameter, not a tensor", hint)
    if kind is not TENSOR:
        name = NAME(kind)
        if any(other is TENSOR for other in ANCESTORS(kind)):
            text = f"output {output.name} is a {name}, a subclass that could compute when looked at"
            raise Refusal("tampering", text, "return a plain torch.Tensor")
        raise Refusal("signature", f"output {output.name} is a {name}, not a tensor")
    if not CPU.__get__(one) or LAYOUT.__get__(one) is not STRIDED:
        raise Refusal("signature", f"output {output.name} is no dense tensor on the CPU")
    if REFERENCES(one) or _attached(one) or _trailing(one):
        text = f"output {output.name} carries attributes or callbacks, which act when it is let go"
        raise Refusal("tampering", text, "return a tensor that nothing is attached to")
    dtype, shape = DTYPE.__get__(one), tuple(SHAPE.__get__(one))
    if shape != output.shape:
        raise Refusal(
            "wrong_shape", f"output {output.name} has shape {shape}, expected {output.shape}"
        )
    if dtype is not output.dtype:
        raise Refusal("wrong_dtype", f"output {output.name} is {dtype}, expected {output.dtype}")
    if CONJUGATE(one) or NEGATIVE(one):
        raise Refusal("tampering", f"output {output.name} is negated or conjugated when looked at",
                      "return it with .resolve_neg().resolve_conj()")  # fmt: skip
    strides, size = STRIDE(one), dtype.itemsize
    needed = elements(list(shape), list(strides)) * size
    if not needed:
        return 0, 0
    first = ADDRESS(one)
    start = first - OFFSET(one) * size
    end = start + BYTES(STORAGE(one))
    if not first or start > first or first + needed > end:
        raise Refusal("tampering", f"output {output.name} has no storage of its size")
    return start, end


def _attached(one: Any) -> bool:
    """Whether a tensor has attributes, beside the whole numbers that torch.compile leaves there."""
    kept = vars(one)
    return type(kept) is not dict or any(
        type(name) is not str or name[:8] != "_dynamo_" or type(value) is not set
        or any(type(part) is not int for part in value)
        for name, value in ITEMS(kept)
    )  # fmt: skip


def _trailing(one: Any) -> bool:
    """Whether objects of the candidate's hang on a tensor: what made it, or what it views."""
    if BEFORE.__get__(one) is not None or GRADIENT.__get__(one) is not None:
        return True
    viewed = VIEWED.__get__(one)
    return viewed is not None and (type(viewed) is not TENSOR or _attached(viewed))


def laid_out(one: Any, output: Output) -> tuple[Any, int]:
    """An examined tensor that lies as its user expects it, and the nanoseconds that took.

    Who returns a view of something smaller, or of other strides than the reference's, has left
    work to whoever reads it.
    """
    if output.as_laid(one):
        return one, 0
    start = CLOCK()
    made = CONTIGUOUS(one)
    return made, CLOCK() - start


def copy(one: Any, output: Output) -> None:
    """Copy the bytes of an examined tensor to where the verifier looks."""
    if 0 in output.shape:
        return
    source = _array(ADDRESS(one), output.shape, STRIDE(one), output.dtype.itemsize)
    for piece in pieces(output.shape, output.dtype.itemsize):
        output.array[piece] = source[piece]


def _array(address: int, shape: Any, strides: Any, size: int) -> Any:
    """The elements as unsigned numbers: copied, they keep every bit."""
    shape, strides = list(shape), list(strides)
    count = elements(shape, strides)
    if not count:
        return ARRAY(shape, UNSIGNED[size])
    memory = (ctypes.c_uint8 * (count * size)).from_address(address)
    steps = [step * size for step in strides]
    return ARRAY(shape, UNSIGNED[size], memory, 0, steps)
