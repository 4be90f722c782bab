"""Tensors that a candidate returned: looked at through functions it could not replace, then copied.

A tensor is taken for what it is only if its class *is* the framework's: a subclass could compute
when it is looked at. Attributes are read by the descriptors of the C base class, and bytes are
copied by address.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np
import torch
from refusal import Refusal  # type: ignore[import-not-found]
from tensors import elements  # type: ignore[import-not-found]

TENSOR, PARAMETER, STRIDED = torch.Tensor, torch.nn.Parameter, torch.strided
_BASE, _STORAGE = torch._C.TensorBase.__dict__, torch._C.StorageBase.__dict__
SHAPE, DTYPE, LAYOUT, CPU = _BASE["shape"], _BASE["dtype"], _BASE["layout"], _BASE["is_cpu"]
STRIDE, OFFSET, ADDRESS = _BASE["stride"], _BASE["storage_offset"], _BASE["data_ptr"]
STORAGE, BYTES = _BASE["untyped_storage"], _STORAGE["nbytes"]
CONJUGATE, NEGATIVE = _BASE["is_conj"], _BASE["is_neg"]
ITEMS, EACH, EACH_OF = dict.items, tuple.__iter__, list.__iter__
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
    """

    def __init__(self, address: int, place: dict[str, Any], aliased: bool) -> None:
        self.name = place["name"]
        self.shape = tuple(place["shape"])
        self.dtype = DTYPES[place["dtype"]]
        self.aliased = aliased
        self.array = _array(address, place["shape"], place["strides"], self.dtype.itemsize)


def flat(result: Any, path: str = "") -> list[tuple[str, Any]]:
    """What is in a result with the keys that lead to it; no method of the candidate's is called."""
    kind = type(result)
    if issubclass(kind, dict | tuple | list) and hasattr(kind, "__del__"):
        raise Refusal("tampering", f"a {kind.__name__} was returned that acts when it is let go")
    if issubclass(kind, dict):
        parts = [(str(key), one) for key, one in ITEMS(result)]
    elif issubclass(kind, tuple):
        names = getattr(kind, "_fields", ())
        parts = [(str(names[n]) if n < len(names) else str(n), one)
                 for n, one in enumerate(EACH(result))]  # fmt: skip
    elif issubclass(kind, list):
        parts = [(str(n), one) for n, one in enumerate(EACH_OF(result))]
    else:
        return [(path, result)]
    return [item for key, one in parts for item in flat(one, f"{path}_{key}" if path else key)]


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
        name = f"{kind.__module__}.{kind.__qualname__}"
        if issubclass(kind, TENSOR):
            text = f"output {output.name} is a {name}, a subclass that could compute when looked at"
            raise Refusal("tampering", text, "return a plain torch.Tensor")
        raise Refusal("signature", f"output {output.name} is a {name}, not a tensor")
    if not CPU.__get__(one) or LAYOUT.__get__(one) is not STRIDED:
        raise Refusal("signature", f"output {output.name} is no dense tensor on the CPU")
    if REFERENCES(one) or vars(one):
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


def copy(one: Any, output: Output) -> None:
    """Copy the bytes of an examined tensor to where the verifier looks."""
    if 0 in output.shape:
        return
    source = _array(ADDRESS(one), output.shape, STRIDE(one), output.dtype.itemsize)
    output.array[...] = source


def _array(address: int, shape: Any, strides: Any, size: int) -> Any:
    """The elements as unsigned numbers: copied, they keep every bit."""
    shape, strides = list(shape), list(strides)
    count = elements(shape, strides)
    if not count:
        return ARRAY(shape, UNSIGNED[size])
    memory = (ctypes.c_uint8 * (count * size)).from_address(address)
    steps = [step * size for step in strides]
    return ARRAY(shape, UNSIGNED[size], memory, 0, steps)
