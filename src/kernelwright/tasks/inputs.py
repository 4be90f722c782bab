"""Inputs, drawn from a seed.

Everything stays within the values the task declares. A seed also moves scale and offset, so that
an answer remembered from another seed is wrong.
"""

import zlib
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from kernelwright.records.task import Case, Shaped

Array = NDArray[Any]
Generator = np.random.Generator


def generator(seed: int, name: str = "") -> Generator:
    """Random numbers for one tensor: another stream for every name under one seed."""
    return np.random.default_rng([seed & 0xFFFFFFFFFFFFFFFF, zlib.crc32(name.encode())])


def draw(case: Case, seed: int, views: Mapping[str, Array]) -> None:
    """Fill the inputs of ``case`` in place, those of kind ``given`` excepted.

    Args:
        case: whose inputs.
        seed: equal seeds, equal contents.
        views: the tensors by name.
    """
    for item in case.inputs:
        if item.values.kind != "given":
            store(views[item.name], drawn(item, generator(seed, item.name)))


def drawn(item: Shaped, random: Generator) -> Array:
    """Values by the declaration, scale and offset moved by the stream; not yet rounded."""
    values, shape = item.values, item.shape
    precise = np.float64 if item.dtype in ("float64", "int64", "int32") else np.float32
    if item.dtype == "bool" or values.kind == "integers":
        return random.integers(*_integer_range(item), shape)
    if values.kind == "uniform":
        low, high = bounds(item)
        span = high - low
        low, high = low + span * random.uniform(0, 0.125), high - span * random.uniform(0, 0.125)
        return low + (high - low) * random.random(shape, dtype=precise)
    scale = values.std * random.uniform(0.75, 1.25)
    offset = values.mean + values.std * random.uniform(-0.25, 0.25)
    found = random.standard_normal(shape, dtype=precise)
    found *= scale
    found += offset
    return found


def store(view: Array, values: Array) -> None:
    """Assign with rounding; values beyond the type's range go to its ends."""
    if view.dtype == values.dtype:
        view[...] = values
        return
    if view.dtype.kind in "iu" and values.dtype.kind == "f":
        info = np.iinfo(view.dtype)
        values = np.clip(np.rint(values), float(info.min), float(info.max))
    elif view.dtype.kind not in "biu" and view.dtype.itemsize == 1:
        limit = float(ml_dtypes.finfo(view.dtype).max)  # type: ignore[no-untyped-call]
        values = np.clip(values, -limit, limit)
    view[...] = values.astype(view.dtype)


def _integer_range(item: Shaped) -> tuple[int, int]:
    """Half-open; an empty range is widened by one where nothing is drawn from it anyway."""
    if item.dtype == "bool":
        return 0, 2
    low, high = int(item.values.low), int(item.values.high)
    return low, max(high, low + 1) if not size_of(item) else high


def bounds(item: Shaped) -> tuple[float, float]:
    """Between what uniform values are drawn."""
    return float(item.values.low), float(item.values.high)


def size_of(item: Shaped) -> int:
    """How many elements a tensor has."""
    return int(np.prod(item.shape, dtype=np.int64))


def is_float(dtype: str) -> bool:
    """Whether a type holds floats."""
    return "float" in dtype
