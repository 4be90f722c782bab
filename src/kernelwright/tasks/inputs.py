"""Inputs: drawn from a seed, and made hostile.

Everything stays within the values the task declares, or, for ``given`` tensors (drawn by the
task's own code), within the range they had. A seed also moves scale and offset, so that an answer
remembered from another seed is wrong.
"""

import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from kernelwright.records.task import Case, Shaped

Array = NDArray[Any]
Generator = np.random.Generator


class Limits(NamedTuple):
    """The smallest normal and the largest finite number of a float type."""

    tiny: float
    max: float


_LARGE = {"float16": 8.0, "float8_e4m3fn": 4.0, "float8_e5m2": 8.0}
_OFFSET = {"float64": 1e5, "float32": 1e3, "float16": 32.0, "bfloat16": 16.0}
_SPECIAL = {"positive_infinity": np.inf, "negative_infinity": -np.inf, "nan": np.nan}
KINDS = ("large", "tiny", "constant", "offset", *_SPECIAL)


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
            _store(views[item.name], _draw(item, generator(seed, item.name)))


def hostile_kinds(case: Case) -> tuple[str, ...]:
    """The kinds of hostile inputs that differ from an ordinary draw for this case."""
    kinds = {item.values.kind for item in case.inputs if _is_float(item.dtype) and _size(item)}
    if "normal" in kinds:
        victim = _victim(case)
        narrow = victim is not None and victim.dtype.startswith("float8")
        return tuple(kind for kind in KINDS if not (narrow and kind in ("offset", *_SPECIAL)))
    if "uniform" in kinds:
        return ("large", "tiny", "constant")
    return ("large", "constant") if "given" in kinds else ()


def draw_hostile(case: Case, kind: str, seed: int, views: Mapping[str, Array]) -> None:
    """Fill the inputs with values on which careless kernels fail and honest ones do not.

    ``large``: 64 deviations (8 in float16): overflows an unshifted exponential. ``tiny``: around
    the smallest normal number. ``constant``: one value, so that a variance vanishes. ``offset``:
    a thousand deviations beside zero, so that a difference of squares cancels. ``…infinity`` and
    ``nan``: a few such elements. Only the first normal input, by custom the data, is offset, made
    large or given non-finite elements: an honest product of two large inputs may overflow. Uniform
    and ``given`` inputs go to the ends of their range instead and never turn non-finite. Whether
    the reference is well defined there is for the oracle to say, see ``Truth.settled``.

    Args:
        case: whose inputs.
        kind: one of :func:`hostile_kinds`.
        seed: equal seeds, equal contents.
        views: the tensors by name; ``given`` ones already hold their values.
    """
    draw(case, seed, views)
    first = _victim(case)
    for item in case.inputs:
        if not _is_float(item.dtype) or not _size(item):
            continue
        random = generator(seed, f"{item.name}:{kind}")
        view = views[item.name]
        match item.values.kind:
            case "normal":
                _harm_normal(item, kind, random, view, chosen=item is first)
            case "uniform":
                low, high = _bounds(item)
                _harm_bounded(kind, random, view, low, high)
            case "given" if kind in ("large", "constant"):
                wide = np.asarray(view, dtype=np.float64)
                _harm_bounded(kind, random, view, float(wide.min()), float(wide.max()))


def _draw(item: Shaped, random: Generator) -> Array:
    """Values by the declaration, scale and offset moved by the stream."""
    values, shape = item.values, item.shape
    precise = np.float64 if item.dtype in ("float64", "int64", "int32") else np.float32
    if item.dtype == "bool" or values.kind == "integers":
        return random.integers(*_integer_range(item), shape)
    if values.kind == "uniform":
        low, high = _bounds(item)
        span = high - low
        low, high = low + span * random.uniform(0, 0.125), high - span * random.uniform(0, 0.125)
        return low + (high - low) * random.random(shape, dtype=precise)
    scale = values.std * random.uniform(0.75, 1.25)
    offset = values.mean + values.std * random.uniform(-0.25, 0.25)
    found = random.standard_normal(shape, dtype=precise)
    found *= scale
    found += offset
    return found


def _harm_normal(item: Shaped, kind: str, random: Generator, view: Array, *, chosen: bool) -> None:
    values = item.values
    if kind == "tiny":
        smallest = _finfo(view).tiny
        _store(view, random.standard_normal(item.shape) * smallest * 0.5)
    elif kind == "constant":
        _store(view, np.full(item.shape, values.mean + values.std * random.uniform(0.5, 1.5)))
    elif chosen and kind == "large":
        factor = _LARGE.get(item.dtype, 64.0)
        _store(view, values.mean + random.standard_normal(item.shape) * values.std * factor)
    elif chosen and kind == "offset":
        far = random.choice((-1, 1)) * _OFFSET.get(item.dtype, 4.0)
        _store(view, values.mean + values.std * (random.standard_normal(item.shape) + far))
    elif chosen and kind in _SPECIAL:
        size = _size(item)
        places = random.choice(size, min(size, max(1, min(8, size // 64))), replace=False)
        view[np.unravel_index(places, item.shape)] = np.asarray(_SPECIAL[kind], dtype=view.dtype)


def _harm_bounded(kind: str, random: Generator, view: Array, low: float, high: float) -> None:
    if kind == "large":
        _store(view, np.where(random.random(view.shape) < 0.5, low, high))
    elif kind == "tiny":
        centre = min(max(0.0, low), high)
        near = np.abs(random.standard_normal(view.shape)) * _finfo(view).tiny
        _store(view, np.clip(centre + near * (1 if high > centre else -1), low, high))
    elif kind == "constant":
        _store(view, np.full(view.shape, low + (high - low) * random.random()))


def _store(view: Array, values: Array) -> None:
    """Assign with rounding; values beyond the type's range go to its ends."""
    if view.dtype == values.dtype:
        view[...] = values
        return
    if view.dtype.kind in "iu" and values.dtype.kind == "f":
        info = np.iinfo(view.dtype)
        values = np.clip(np.rint(values), float(info.min), float(info.max))
    elif view.dtype.kind not in "biu" and view.dtype.itemsize == 1:
        limit = _finfo(view).max
        values = np.clip(values, -limit, limit)
    view[...] = values.astype(view.dtype)


def _victim(case: Case) -> Shaped | None:
    for item in case.inputs:
        if item.values.kind == "normal" and _is_float(item.dtype) and _size(item):
            return item
    return None


def _integer_range(item: Shaped) -> tuple[int, int]:
    """Half-open; an empty range is widened by one where nothing is drawn from it anyway."""
    if item.dtype == "bool":
        return 0, 2
    low, high = int(item.values.low), int(item.values.high)
    return low, max(high, low + 1) if not _size(item) else high


def _bounds(item: Shaped) -> tuple[float, float]:
    return float(item.values.low), float(item.values.high)


def _finfo(view: Array) -> Limits:
    info: Any = ml_dtypes.finfo(view.dtype)  # type: ignore[no-untyped-call]
    return Limits(float(info.tiny), float(info.max))


def _size(item: Shaped) -> int:
    return int(np.prod(item.shape, dtype=np.int64))


def _is_float(dtype: str) -> bool:
    return "float" in dtype
