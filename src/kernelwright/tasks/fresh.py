"""Fresh contents for every timed call: each element changes, cheaply, in a secret way.

Changing few elements would let a kernel remember its last call and redo only what differs, which
costs less than the work for whatever computes more than it reads. So all change. And any summary
of them changes as it does from one draw to the next: moving elements about would keep every sum
and histogram, and changing each by little changes a long sum by less than a comparison can see.
So each element comes from one of two secret places of the base, by a secret pool of bits; floats
are then multiplied by factors taken from a pool at a secret place. Values around zero only get
factors, with signs. Tensors drawn by the task's own code keep their places, for they may have a
structure: zeros stay zeros and values stay within their range, so a triangle stays a triangle and
a probability one. Those that hold codes rather than quantities (integers, or floats with few
different values) are not changed by hand: whole other draws of them take their place.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.records.task import Case, Shaped
from kernelwright.tasks.draws import Draw, Draws

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
WAYS = ("signed", "gentle", "coarse", "u1", "u2", "u4", "u8")
FACTORS = WAYS[:3]
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
        draw: the task's own code, for inputs that are not changed by hand; None: they stay.
    """

    def __init__(
        self, case: Case, base: Mapping[str, Array], seed: int, draw: Draw | None = None
    ) -> None:
        self._items = {item.name: item for item in case.inputs}
        self._base = {name: np.ascontiguousarray(base[name]) for name in self._items}
        self._pools: dict[str, Array] = {}
        self._seed = seed
        self._ways = {name: _way(item, self._base[name]) for name, item in self._items.items()}
        self._mixed = {
            name
            for name, way in self._ways.items()
            if way not in ("fixed", "signed") and self._items[name].values.kind != "given"
        }
        self._ranges = {
            name: _range(item, self._base[name])
            for name, item in self._items.items()
            if item.values.kind in ("uniform", "given") and self._ways[name] in FACTORS
        }
        names = self.fixed()
        self._draws = Draws(draw, names, self._base) if draw and names else None

    def fixed(self) -> tuple[str, ...]:
        """Inputs whose contents are not changed by hand."""
        return tuple(name for name, way in self._ways.items() if way == "fixed")

    def write(self, views: Mapping[str, Array], random: np.random.Generator) -> None:
        """Fill ``views`` with contents that nobody has seen.

        Args:
            views: the tensors by name; may be strided.
            random: a secret stream; the same stream gives the same contents.
        """
        others = self._draws.next(random) if self._draws else self._base
        for name, view in views.items():
            item, base, way = self._items[name], self._base[name], self._ways[name]
            if way == "fixed":
                view[...] = others[name]
            elif way == "whole" and base.size < SMALL:
                view[...] = _drawn(item, base, random)
            else:
                out = view.reshape(-1) if view.flags.c_contiguous else np.empty_like(base).ravel()
                flat = base.reshape(-1)
                if name in self._mixed:
                    flat = self._mix(flat, out, random)
                if way != "whole":
                    self._scale(flat, out, random, self._pool(way))
                if name in self._ranges:
                    _keep_within(out, *self._ranges[name])
                if not view.flags.c_contiguous:
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

    def _mix(self, flat: Array, out: Array, random: np.random.Generator) -> Array:
        """Take each element from one of two places of the tensor, a chunk at a time; ``out``."""
        whole = f"u{flat.itemsize}"
        masks, shifts = self._pool(whole), random.integers(flat.size, size=2)
        places = random.integers(PLACES, size=-(-flat.size // CHUNK))
        raw, into = flat.view(whole), out.view(whole)
        for start, place in zip(range(0, flat.size, CHUNK), places, strict=True):
            part = into[start : start + CHUNK]
            one, other = (_from(raw, start + shift, part.size) for shift in shifts)
            # Where the mask has ones the other; a choice by a branch takes far longer.
            np.bitwise_xor(one, other, out=part)
            np.bitwise_and(part, masks[place : place + part.size], out=part)
            np.bitwise_xor(part, one, out=part)
        return out

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
            random = np.random.default_rng((self._seed, WAYS.index(way)))
            if way not in FACTORS:
                self._pools[way] = -random.integers(2, size=CHUNK + PLACES).astype(way)
                return self._pools[way]
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


def _drawn(item: Shaped, base: Array, random: np.random.Generator) -> Array:
    """Integers and booleans drawn anew, where there are few."""
    low, high = (0, 2) if item.dtype == "bool" else _integers(item)
    return random.integers(low, high, base.shape).astype(base.dtype)


def _from(flat: Array, start: int, count: int) -> Array:
    """So many elements from one place on, going on at the beginning after the last."""
    start %= flat.size
    part = flat[start : start + count]
    return part if part.size == count else np.concatenate((part, flat[: count - part.size]))


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
