"""Fresh contents for every timed call: each element changes, cheaply, in a secret way.

Changing few elements would let a kernel remember its last call and redo only what differs, which
costs less than the work for whatever computes more than it reads. So all change: floats are
multiplied by secret factors taken from a pool at a secret place, integers move along the tensor.
Zeros stay zeros and values stay within their range, so a triangle stays a triangle and a
probability one. Tensors drawn by the task's own code that hold codes rather than quantities
(integers, or floats with few different values) are left as they are.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.records.task import Case, Shaped

Array = NDArray[Any]
CHUNK = 1 << 16
"""Elements that share one place in the pool; its part of the pool stays in the caches."""
PLACES = 1 << 18
"""Places in the pool; the chance that two calls meet at one is negligible."""
WIDE = (0.75, 1.25)
"""Magnitudes of the factors of values that lie around zero; signs are drawn too."""
GENTLE = 2.0**-6
COARSE = 2.0**-3
"""Largest relative change of all other values, in wide and in narrow types."""
SPARSE = 512
"""One of so many elements changes when few are to."""
SAMPLE = 4096
FEW = 64
"""A tensor of the task's own with fewer different values than this holds codes."""
FACTORS = ("signed", "gentle", "coarse")
PLAIN = (np.float32, np.float64)
"""Types in which numpy computes at full speed."""
SMALL = 64
"""Integer tensors with fewer elements are drawn anew."""


class Fresh:
    """Makes fresh contents of one case's inputs.

    Args:
        case: whose inputs.
        base: what they are made from, by name; distributed as the task declares.
        seed: of the pools.
    """

    def __init__(self, case: Case, base: Mapping[str, Array], seed: int) -> None:
        self._items = {item.name: item for item in case.inputs}
        self._base = {name: np.ascontiguousarray(base[name]) for name in self._items}
        self._pools: dict[str, Array] = {}
        self._seed = seed
        self._ways = {name: _way(item, self._base[name]) for name, item in self._items.items()}
        self._ranges = {
            name: _range(item, self._base[name])
            for name, item in self._items.items()
            if item.values.kind in ("uniform", "given") and self._ways[name] in FACTORS
        }

    def fixed(self) -> tuple[str, ...]:
        """Inputs whose contents never change."""
        return tuple(name for name, way in self._ways.items() if way == "fixed")

    def write(self, views: Mapping[str, Array], random: np.random.Generator) -> None:
        """Fill ``views`` with contents that nobody has seen.

        Args:
            views: the tensors by name; may be strided.
            random: a secret stream; the same stream gives the same contents.
        """
        for name, view in views.items():
            item, base = self._items[name], self._base[name]
            match self._ways[name]:
                case "fixed":
                    view[...] = base
                case "whole":
                    view[...] = _whole(item, base, random)
                case way:
                    direct = view.flags.c_contiguous and base.dtype in PLAIN
                    out = view.reshape(-1) if direct else np.empty(base.size, base.dtype)
                    self._scale(base.reshape(-1), out, random, self._pool(way))
                    if name in self._ranges:
                        _keep_within(out, *self._ranges[name])
                    if not direct:
                        view[...] = out.reshape(base.shape)

    def touch(self, views: Mapping[str, Array], random: np.random.Generator) -> None:
        """Change few elements of what ``views`` hold, so that most is as it was before.

        Whoever remembers answers by a part of the contents, or by a hash of some, is wrong then.

        Args:
            views: the tensors by name, each holding what :meth:`write` put there.
            random: a secret stream.
        """
        for name, view in views.items():
            base = self._base[name]
            if self._ways[name] == "fixed":
                continue
            count = max(1, base.size // SPARSE)
            places = random.choice(base.size, count, replace=False)
            fresh = np.empty((count,), base.dtype)
            if self._ways[name] == "whole":
                fresh[...] = base.reshape(-1)[random.integers(base.size, size=count)]
            else:
                pool = self._pool(self._ways[name])
                self._scale(base.reshape(-1)[places], fresh, random, pool)
                if name in self._ranges:
                    _keep_within(fresh, *self._ranges[name])
            view[np.unravel_index(places, base.shape)] = fresh

    def _scale(self, flat: Array, out: Array, random: np.random.Generator, pool: Array) -> None:
        """Multiply by factors, a chunk at a time."""
        places = random.integers(PLACES, size=-(-flat.size // CHUNK))
        for start, place in zip(range(0, flat.size, CHUNK), places, strict=True):
            part, into = flat[start : start + CHUNK], out[start : start + CHUNK]
            factors = pool[place : place + part.size]
            if part.dtype in PLAIN:
                np.multiply(part, factors, out=into)
            else:
                into[...] = (part.astype(np.float32) * factors).astype(part.dtype)

    def _pool(self, way: str) -> Array:
        if way not in self._pools:
            random = np.random.default_rng((self._seed, FACTORS.index(way)))
            draws = random.random(CHUNK + PLACES, dtype=np.float32)
            if way == "signed":
                signs = 1 - 2 * random.integers(2, size=draws.size).astype(np.float32)
                draws = (WIDE[0] + (WIDE[1] - WIDE[0]) * draws) * signs
            else:
                most = GENTLE if way == "gentle" else COARSE
                draws = 1 + most * (2 * draws - 1)
            self._pools[way] = draws.astype(np.float32)
        return self._pools[way]


def _way(item: Shaped, base: Array) -> str:
    """How an input is freshened: ``fixed``, ``whole``, or a kind of factors."""
    values, given = item.values, item.values.kind == "given"
    if not base.size:
        return "fixed"
    if "float" not in item.dtype or values.kind == "integers":
        return "fixed" if given else "whole"
    if given and _codes(base):
        return "fixed"
    if values.kind == "normal" and abs(values.mean) < values.std / 2:
        return "signed"
    return "coarse" if base.dtype.itemsize < 4 else "gentle"


def _codes(base: Array) -> bool:
    """Whether a tensor holds a few values again and again, as masks and labels do."""
    flat = base.reshape(-1)
    sample = flat[:: max(1, flat.size // SAMPLE)][:SAMPLE].astype(np.float64)
    return np.unique(sample).size < min(FEW, max(2, sample.size // 2))


def _whole(item: Shaped, base: Array, random: np.random.Generator) -> Array:
    """Integers and booleans: moved along the tensor, or drawn anew where there are few."""
    if base.size < SMALL:
        low, high = (0, 2) if item.dtype == "bool" else _integers(item)
        return random.integers(low, high, base.shape).astype(base.dtype)
    by = int(random.integers(1, base.size))
    return np.roll(base.reshape(-1), by).reshape(base.shape)


def _integers(item: Shaped) -> tuple[int, int]:
    low = int(item.values.low)
    return low, max(int(item.values.high), low + 1)


def _keep_within(values: Array, low: float, high: float) -> None:
    if values.dtype in PLAIN:
        np.clip(values, low, high, out=values)
    else:
        values[...] = np.clip(values.astype(np.float32), low, high).astype(values.dtype)


def _range(item: Shaped, base: Array) -> tuple[float, float]:
    """Where the values must stay; the end of a declared range is not part of it."""
    if item.values.kind == "uniform":
        low, high = float(item.values.low), float(item.values.high)
        narrow = base.dtype if base.dtype in PLAIN else np.dtype(np.float32)
        return low, float(np.nextafter(narrow.type(high), narrow.type(low)))
    wide = base if base.dtype in PLAIN else base.astype(np.float32)
    finite = wide[np.isfinite(wide)]
    return (float(finite.min()), float(finite.max())) if finite.size else (-np.inf, np.inf)
