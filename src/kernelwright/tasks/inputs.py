"""Inputs: drawn from a seed, and freshened between timed calls.

Everything stays within the values the task declares: integers and uniform values in their range,
``given`` tensors (drawn by the task's own code) only ever hold values they held before. A seed
also moves scale and offset, so that an answer remembered from another seed is wrong.
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
FRESH_STEP = 509
"""Distance between refreshed elements: a prime, so that columns differ from row to row."""


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
            store(views[item.name], _draw(item, generator(seed, item.name)))


def freshen(view: Array, base: Array, random: Generator, item: Shaped) -> None:
    """A cheap secret change: some elements of every row get other values of the tensor's own.

    Args:
        view: the tensor, holding ``base`` or an earlier freshened state of it.
        base: what the tensor was filled with; same shape and dtype, contiguous.
        random: a secret stream.
        item: the input; integers drawn by the task's own code are left as they are.
    """
    size = base.size
    given = item.values.kind == "given"
    if not size or (given and not is_float(item.dtype)):
        return
    if size < 4 * FRESH_STEP:
        store(view, _shuffled(base, random) if given else _like(item, base, random))
        return
    row = base.shape[-1] if base.ndim > 1 else size
    step = FRESH_STEP if row > FRESH_STEP else max(1, row - 1 + row % 2)
    offset, start = (int(one) for one in random.integers(step, size=2))
    places = range(offset, size, step)
    source = _bits(base).reshape(-1)[start::step]
    source = np.resize(np.roll(source, int(random.integers(len(source)))), len(places))
    if view.flags.c_contiguous:
        _bits(view).reshape(-1)[offset::step] = source
    else:
        view[np.unravel_index(np.asarray(places), base.shape)] = source.view(base.dtype)


def _draw(item: Shaped, random: Generator) -> Array:
    """Values by the declaration, scale and offset moved by the stream."""
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


def _shuffled(base: Array, random: Generator) -> Array:
    return base.reshape(-1)[random.permutation(base.size)].reshape(base.shape)


def _like(item: Shaped, base: Array, random: Generator) -> Array:
    """New values distributed as those of a small ``base``; a single one is moved a little."""
    if item.dtype == "bool" or item.values.kind == "integers":
        return random.integers(*_integer_range(item), base.shape)
    if item.values.kind == "uniform":
        low, high = bounds(item)
        return random.uniform(low, high, base.shape)
    wide = base.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    spread = float(finite.std()) if finite.size > 1 else 0.0
    centre = float(finite.mean()) if finite.size else item.values.mean
    return random.normal(centre, spread or item.values.std, base.shape)


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


def _bits(array: Array) -> Array:
    """The same memory as unsigned integers: numpy copies special types one by one."""
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.itemsize <= 8 else array


def size_of(item: Shaped) -> int:
    """How many elements a tensor has."""
    return int(np.prod(item.shape, dtype=np.int64))


def is_float(dtype: str) -> bool:
    """Whether a type holds floats."""
    return "float" in dtype
