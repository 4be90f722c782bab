"""Between numpy and torch, without losing a bit: types numpy lacks travel as integers.

Imported only where torch is installed.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from kernelwright.evaluation.arena import numpy_dtype

Array = NDArray[Any]
_AS_BITS = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}


def tensor_of(array: Array) -> Any:
    """A tensor that shares the memory of ``array``."""
    name = array.dtype.name
    if name in _AS_BITS:
        return torch.from_numpy(array.view(_AS_BITS[name])).view(getattr(torch, name))
    return torch.from_numpy(array)


def array_of(tensor: Any) -> Array:
    """The values of a tensor as an array of the same type."""
    plain = tensor.detach().cpu().contiguous()
    name = dtype_name(plain)
    if name in _AS_BITS:
        bits: Array = plain.view(getattr(torch, _AS_BITS[name])).numpy()
        return bits.view(numpy_dtype(name))
    return np.asarray(plain.numpy())


def dtype_name(tensor: Any) -> str:
    """Our name of a tensor's dtype, which is torch's own."""
    return str(tensor.dtype).removeprefix("torch.")


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor."""
    return isinstance(value, torch.Tensor)
