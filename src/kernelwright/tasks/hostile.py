"""Inputs on which careless kernels fail and honest ones do not.

Everything stays within the values the task declares, as in :mod:`kernelwright.tasks.inputs`.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from kernelwright.records.task import Case, Shaped
from kernelwright.tasks import inputs, structure
from kernelwright.tasks.inputs import Array, Generator


class Limits(NamedTuple):
    """The smallest normal and the largest finite number of a float type."""

    tiny: float
    max: float


_LARGE = {"float16": 8.0, "float8_e4m3fn": 4.0, "float8_e5m2": 8.0}
_LONE = {
    "float64": 1024.0, "float16": 128.0, "float8_e4m3fn": 16.0, "float8_e5m2": 32.0,
}  # fmt: skip
_OFFSET = {"float64": 1e5, "float32": 1e3, "float16": 32.0, "bfloat16": 16.0}
_SPECIAL = {"positive_infinity": np.inf, "negative_infinity": -np.inf, "nan": np.nan}
NON_FINITE = tuple(_SPECIAL)
INTEGERS = "integers"
CANCELLING = "cancelling"
OUTLIERS = "outliers"
KINDS = (INTEGERS, "large", "tiny", "constant", "offset", CANCELLING, OUTLIERS, *_SPECIAL)
SMALL = 3
"""Largest of the small integers: sums of their products stay exact for a million terms."""
NEAR_END = 0.02
"""Share of the range of a bounded input in which large values lie."""
LEFT_OVER = 2.0**-10
"""What is left of a pair that cancels, in deviations."""
FEW_ROWS = 4
"""Rows from which on one of them lies aside as a whole, among outliers."""


def kinds(case: Case) -> tuple[str, ...]:
    """The kinds of hostile inputs that differ from an ordinary draw for this case."""
    floats = [item for item in case.inputs if inputs.is_float(item.dtype) and inputs.size_of(item)]
    drawn = {item.values.kind for item in floats}
    whole = (INTEGERS,) if floats and all(_whole_range(item) for item in floats) else ()
    if "normal" in drawn:
        victim = _victim(case)
        beyond = ("offset", CANCELLING, *_SPECIAL) if victim and _narrow(victim) else ()
        return (*whole, *(kind for kind in KINDS if kind not in (INTEGERS, *beyond)))
    if "uniform" in drawn:
        return (*whole, "large", "tiny", "constant")
    return ("large", "constant") if "given" in drawn else ()


def non_finite(case: Case) -> str | None:
    """The input that some hostile kinds give infinities and NaN; None where none does."""
    victim = _victim(case)
    return victim.name if victim and not _narrow(victim) else None


def draw(case: Case, kind: str, seed: int, views: Mapping[str, Array]) -> None:
    """Fill the inputs with values on which careless kernels fail and honest ones do not.

    ``integers``: small whole numbers in every float input, on which sums of products are exact.
    ``large``: 64 deviations (8 in float16): overflows an unshifted exponential. ``tiny``: around
    the smallest normal number. ``constant``: one value, so that a variance vanishes. ``offset``:
    a thousand deviations beside zero, so that a difference of squares cancels. ``cancelling``: each
    row's elements come in pairs of opposite sign, scattered, so that little is left of its sum.
    ``outliers``: ordinary rows, but half of them hold one or two lone elements of 192 to 256
    deviations (96 to 128 in float16, 768 to 1024 in float64), and one lies aside as a whole, like
    ``offset``: a look at some elements does not tell which. ``…infinity`` and ``nan``: a few such
    elements.

    Only the first normal input, by custom the data, is offset, made to cancel, made large or given
    outliers or non-finite elements: an honest product of two large inputs may overflow. Uniform and
    ``given`` inputs go to the ends of their range instead and never turn non-finite. Of ``given``
    ones zeros stay zeros, and symmetry is kept; codes, and what has another structure or holds
    what is not finite, stay as they are. Whether the reference is well defined there is for the
    oracle to say.

    Args:
        case: whose inputs.
        kind: one of :func:`kinds`.
        seed: equal seeds, equal contents.
        views: the tensors by name; ``given`` ones already hold their values.
    """
    inputs.draw(case, seed, views)
    first = _victim(case)
    for item in case.inputs:
        if not inputs.is_float(item.dtype) or not inputs.size_of(item):
            continue
        random = inputs.generator(seed, f"{item.name}:{kind}")
        view = views[item.name]
        if kind == INTEGERS:
            least, most = _whole_range(item) or (0, 0)
            inputs.store(view, random.integers(least, most + 1, item.shape))
            continue
        match item.values.kind:
            case "normal":
                _harm_normal(item, kind, random, view, chosen=item is first)
            case "uniform":
                low, high = inputs.bounds(item)
                _harm_bounded(kind, random, view, low, high)
            case "given" if kind in ("large", "constant"):
                _harm_given(kind, random, view)


def _harm_normal(item: Shaped, kind: str, random: Generator, view: Array, *, chosen: bool) -> None:
    values = item.values
    if kind == "tiny":
        smallest = _finfo(view).tiny
        inputs.store(view, random.standard_normal(item.shape) * smallest * 0.5)
    elif kind == "constant":
        inputs.store(view, np.full(item.shape, values.mean + values.std * random.uniform(0.5, 1.5)))
    elif chosen and kind == "large":
        factor = _LARGE.get(item.dtype, 64.0)
        inputs.store(view, values.mean + random.standard_normal(item.shape) * values.std * factor)
    elif chosen and kind == "offset":
        far = random.choice((-1, 1)) * _offset(item)
        inputs.store(view, values.mean + values.std * (random.standard_normal(item.shape) + far))
    elif chosen and kind == CANCELLING:
        inputs.store(view, _cancelling(item, random) * values.std)
    elif chosen and kind == OUTLIERS:
        inputs.store(view, _with_outliers(item, random, np.asarray(view, dtype=np.float64)))
    elif chosen and kind in _SPECIAL:
        size = inputs.size_of(item)
        places = random.choice(size, min(size, max(1, min(8, size // 64))), replace=False)
        view[np.unravel_index(places, item.shape)] = np.asarray(_SPECIAL[kind], dtype=view.dtype)


def _offset(item: Shaped) -> float:
    return _OFFSET.get(item.dtype, 4.0)


def _rows(item: Shaped) -> tuple[int, int]:
    """How many rows a tensor has that is not empty, and how long they are."""
    extent = item.shape[-1] if item.shape else 1
    return inputs.size_of(item) // extent, extent


def _with_outliers(item: Shaped, random: Generator, ordinary: Array) -> Array:
    """Ordinary contents with lone large elements in half of the rows, and one row aside.

    Every such row has one above the rest, since that is what overflows an exponential.
    """
    rows, extent = _rows(item)
    mean, std = item.values.mean, item.values.std
    found = ordinary.reshape(rows, extent)
    order = random.permutation(rows)
    aside = order[: 1 if rows >= FEW_ROWS and not _narrow(item) else 0]
    found[aside] += std * _offset(item) * random.choice((-1, 1), (aside.size, 1))
    chosen = random.random(rows) < 0.5
    chosen[order[-1]] = True
    both = chosen & (random.random(rows) < 0.5)
    for which, sign in ((both, -1), (chosen, 1)):
        (at,) = np.nonzero(which)
        far = std * _LONE.get(item.dtype, 256.0) * random.uniform(0.75, 1, at.size)
        found[at, random.integers(extent, size=at.size)] = mean + sign * far
    return found.reshape(item.shape)


def _cancelling(item: Shaped, random: Generator) -> Array:
    """Rows of normal values and their opposites, a little apart, in a drawn order."""
    rows, extent = _rows(item)
    pairs = extent // 2
    ahead = random.standard_normal((rows, pairs))
    small = LEFT_OVER * random.standard_normal((rows, extent - pairs))
    small[:, :pairs] -= ahead
    found = random.permuted(np.concatenate([ahead, small], axis=1), axis=1)
    return found.reshape(item.shape)


def _whole_range(item: Shaped) -> tuple[int, int] | None:
    """The small integers that a float input may hold; None if fewer than two."""
    low, high = -SMALL, SMALL
    if item.values.kind == "uniform":
        lowest, highest = inputs.bounds(item)
        low, high = max(low, math.ceil(lowest)), min(high, math.floor(highest))
    return (low, high) if item.values.kind != "given" and high > low else None


def _harm_bounded(kind: str, random: Generator, view: Array, low: float, high: float) -> None:
    if kind == "large":
        # Not the ends alone: two values give two answers, and two honest errors are no sample.
        inward = NEAR_END * random.random(view.shape) * (random.random(view.shape) < 0.5)
        share = np.where(random.random(view.shape) < 0.5, inward, 1.0 - inward)
        inputs.store(view, np.clip(low + (high - low) * share, low, high))
    elif kind == "tiny":
        centre = min(max(0.0, low), high)
        near = np.abs(random.standard_normal(view.shape)) * _finfo(view).tiny
        inputs.store(view, np.clip(centre + near * (1 if high > centre else -1), low, high))
    elif kind == "constant":
        inputs.store(view, np.full(view.shape, low + (high - low) * random.random()))


def _harm_given(kind: str, random: Generator, view: Array) -> None:
    """Harm what the task's own code made, unless a kernel may rely on more than its range."""
    before = np.array(view)
    wide = before.astype(np.float64)
    if structure.codes(before) or structure.rigid(before) or not np.isfinite(wide).all():
        return
    within = wide[wide != 0]
    _harm_bounded(kind, random, view, float(within.min()), float(within.max()))
    if structure.symmetric(before):
        upper = np.tri(before.shape[-1], dtype=bool).T
        view[...] = np.where(upper, view, view.swapaxes(-1, -2))
    view[before == 0] = 0


def _victim(case: Case) -> Shaped | None:
    for item in case.inputs:
        if item.values.kind == "normal" and inputs.is_float(item.dtype) and inputs.size_of(item):
            return item
    return None


def _narrow(item: Shaped) -> bool:
    """Whether a type bears neither an offset nor anything that is not finite."""
    return item.dtype.startswith("float8")


def _finfo(view: Array) -> Limits:
    info: Any = ml_dtypes.finfo(view.dtype)  # type: ignore[no-untyped-call]
    return Limits(float(info.tiny), float(info.max))
