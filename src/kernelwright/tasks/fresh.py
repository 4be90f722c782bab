"""Fresh contents for every timed call: each element changes, cheaply, in a secret way.

Changing few elements would let a kernel remember its last call and redo only what differs, which
costs less than the work for whatever computes more than it reads. So all change. And any summary
of them changes as it does from one draw to the next: moving elements about would keep every sum
and histogram, and changing each by little changes a long sum by less than a comparison can see.
So each element comes from one of two secret places of the base, by a secret pool of bits; floats
are then multiplied by factors, products of what a pool holds at two secret places. Values around
zero only get factors, with signs, and one that all of them share.

Tensors made by the task's own code may have a structure that nobody declared. Whole other draws
take their place as long as there is time to draw; then combinations of two earlier draws, in a
secret proportion, in which zeros, ranges, symmetry, order and sums stay what they are; of codes
(integers, or floats with few different values) one of the two. What is not new is multiplied by
factors besides, unless that would break its structure: zeros stay zeros, and values within their
range.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.records.task import Case, Shaped
from kernelwright.tasks import structure
from kernelwright.tasks.draws import Drawn, Draws, combined
from kernelwright.tasks.inputs import drawn, store
from kernelwright.tasks.pools import FACTORS, PLAIN, Pools

Array = NDArray[Any]
SPARSE = 512
"""One of so many elements changes when few are to."""
SMALL = 64
"""Integer tensors with fewer elements are drawn anew."""


class Fresh:
    """Makes fresh contents of one case's inputs.

    Args:
        case: whose inputs.
        base: what they are made from, by name; distributed as the task declares.
        seed: of the pools.
        draws: of inputs that the task's own code makes; None: they are made from ``base``.
    """

    def __init__(
        self, case: Case, base: Mapping[str, Array], seed: int, draws: Draws | None = None
    ) -> None:
        self._items = {item.name: item for item in case.inputs}
        self._base = {name: np.ascontiguousarray(base[name]) for name in self._items}
        self._pools = Pools(seed)
        self._ways = {name: _way(item, self._base[name]) for name, item in self._items.items()}
        self._given = {name for name, item in self._items.items() if item.values.kind == "given"}
        self._mixed = {
            name
            for name, way in self._ways.items()
            if way not in ("fixed", "signed") and name not in self._given
        }
        self._touchable = tuple(
            name
            for name, way in self._ways.items()
            if way != "fixed" and not (name in self._given and _structured(self._base[name]))
        )
        self._ranges = {
            name: _range(item, self._base[name])
            for name, item in self._items.items()
            if item.values.kind in ("uniform", "given") and self._ways[name] in FACTORS
        }
        self._draws = draws
        if draws is not None:
            draws.begin()

    def touchable(self) -> tuple[str, ...]:
        """Inputs of which few elements may be changed: no codes, and nothing with a structure."""
        return self._touchable

    def write(self, views: Mapping[str, Array], random: np.random.Generator) -> None:
        """Fill ``views`` with contents that nobody has seen.

        Args:
            views: the tensors by name; may be strided.
            random: a secret stream; the same stream gives the same contents, unless the task's own
                code draws some of them.
        """
        drawn = self._draws.next(random) if self._draws else Drawn(self._base, new=False)
        new = False
        for name, view in views.items():
            if name in self._given:
                new |= self._write_given(name, view, drawn, random)
            elif self._ways[name] != "fixed":
                self._write_declared(name, view, random)
                new = True
        if self._draws is not None and not new:
            self._draws.repeated += 1

    def _write_given(
        self, name: str, view: Array, drawn: Drawn, random: np.random.Generator
    ) -> bool:
        """Fill a tensor of the task's own; whether nobody can have seen its contents."""
        found = drawn.contents[name]
        varies = self._draws is not None and self._draws.varies(name)
        new = drawn.new and varies
        if varies and drawn.other is not None and self._ways[name] != "fixed":
            other = drawn.other[name]
            if structure.same_zeros(found, other):
                found, new = combined(found, other, drawn.share), True
        if (drawn.new and varies) or name not in self._touchable:
            view[...] = found
            return new
        out = _dense(view)
        self._pools.scale(found.reshape(-1), out, random, self._ways[name])
        known = self._ranges[name] if found is self._base[name] else None
        _keep_within(out, *(known or _range(self._items[name], found)))
        if not view.flags.c_contiguous:
            view[...] = out.reshape(view.shape)
        return True

    def _write_declared(self, name: str, view: Array, random: np.random.Generator) -> None:
        """Fill a tensor that the task declares."""
        item, base, way = self._items[name], self._base[name], self._ways[name]
        if way == "whole" and base.size < SMALL:
            store(view, drawn(item, random))
            return
        out, flat = _dense(view), base.reshape(-1)
        if name in self._mixed:
            flat = self._pools.mix(flat, out, random)
        if way != "whole":
            self._pools.scale(flat, out, random, way)
        if name in self._ranges:
            _keep_within(out, *self._ranges[name])
        if not view.flags.c_contiguous:
            view[...] = out.reshape(base.shape)

    def touch(self, views: Mapping[str, Array], random: np.random.Generator) -> None:
        """Change few elements of what ``views`` hold, so that most is as it was before.

        Whoever remembers answers by a part of the contents, or by a hash of some, is wrong then.
        Where no input may be changed so, all are written anew.

        Args:
            views: the tensors by name, each holding what :meth:`write` put there.
            random: a secret stream.
        """
        if not self._touchable:
            self.write(views, random)
        for name in self._touchable:
            base = self._base[name]
            view = views[name].reshape(base.shape)
            count = max(1, base.size // SPARSE)
            at = np.unravel_index(random.choice(base.size, count, replace=False), base.shape)
            fresh = np.empty((count,), base.dtype)
            if self._ways[name] == "whole":
                fresh[...] = base.reshape(-1)[random.integers(base.size, size=count)]
            else:
                self._pools.scale(base[at], fresh, random, self._ways[name])
                if name in self._ranges:
                    _keep_within(fresh, *self._ranges[name])
            if name in self._given:  # where another draw has zeros they stay
                fresh[...] = np.where((view[at] == 0) | (fresh == 0), view[at], fresh)
            view[at] = fresh


def _way(item: Shaped, base: Array) -> str:
    """How an input is freshened: ``fixed``, ``whole``, or a kind of factors."""
    values, given = item.values, item.values.kind == "given"
    if not base.size:
        return "fixed"
    if "float" not in item.dtype or values.kind == "integers":
        return "fixed" if given else "whole"
    if given and structure.codes(base):
        return "fixed"
    if values.kind == "normal" and abs(values.mean) < values.std / 2:
        return "signed"
    return "coarse" if base.dtype.itemsize < 4 else "gentle"


def _structured(base: Array) -> bool:
    """Whether factors would break what a tensor of the task's own may be relied on to be."""
    return structure.symmetric(base) or structure.rigid(base)


def _dense(view: Array) -> Array:
    """Flat memory to fill: that of ``view`` itself where it is contiguous."""
    return view.reshape(-1) if view.flags.c_contiguous else np.empty(view.size, view.dtype)


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
    return float(np.fmin.reduce(wide, axis=None)), float(np.fmax.reduce(wide, axis=None))
