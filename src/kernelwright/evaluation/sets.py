"""Sets of tensors in shared memory, each tensor between zones that are nobody's to write or read.

The zones hold bytes that nobody can guess. Beside inputs they are others whenever the contents
are, half of them NaN or huge, so that a result which depends on them is wrong or differs; and a set
may be fenced, which ends a process that reads past the end of a tensor.
"""

import numpy as np
from numpy.typing import NDArray

from kernelwright.checks.finding import Finding
from kernelwright.evaluation.arena import (
    Arena,
    Array,
    Layout,
    Placed,
    default_strides,
    numpy_dtype,
    plan,
)
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Shaped

LINE = 64
LOUD = np.array([0x7F, 0xFF], np.uint8)
"""Bytes of which words are NaN, or the largest numbers, in every floating type."""


class Sets:
    """``slots`` sets of tensors in one arena, between guard zones.

    Args:
        tensors: of one set.
        slots: how many sets.
        alignment: bytes to which each tensor is aligned.
        sealed: nobody else can write them.
        fenced: a page that cannot be read follows each tensor, as near as its alignment allows.
    """

    def __init__(
        self,
        tensors: tuple[Shaped, ...],
        slots: int,
        alignment: int,
        *,
        sealed: bool,
        fenced: bool = False,
    ) -> None:
        self.layouts: list[Layout] = []
        start = 0
        for _ in range(slots):
            self.layouts.append(plan(tensors, start, alignment, fenced=fenced))
            start = self.layouts[-1].nbytes
        self.arena = Arena.create(start, sealed=sealed)
        self.arena.fences = tuple(at for layout in self.layouts for at in layout.fences)
        self._dice = np.random.default_rng()
        self._gaps: dict[int, NDArray[np.bool_]] = {}
        places = [place for layout in self.layouts for place in layout.tensors]
        starts = [*(place.offset for place in places), self.arena.nbytes]
        ends = [0, *(place.offset + place.nbytes for place in places)]
        self._zones = [self.arena.bytes[a:b] for a, b in zip(ends, starts, strict=True)]
        self._put: list[NDArray[np.uint8]] = []
        self._first = {place.offset: number for number, place in enumerate(places)}
        for place in places:
            if (gaps := _gaps(place)) is not None:
                self._gaps[place.offset] = gaps
        self.surround()

    def surround(self) -> None:
        """Fill the zones, and what lies between elements, with new bytes."""
        self._put = [self._bytes(zone.size) for zone in self._zones]
        for zone, put in zip(self._zones, self._put, strict=True):
            zone[:] = put
        for offset, mask in self._gaps.items():
            between = self.arena.bytes[offset : offset + mask.size]
            between[mask] = self._bytes(int(mask.sum()))

    def _bytes(self, size: int) -> NDArray[np.uint8]:
        """Lines of any bytes, and lines of loud ones."""
        lines = -(-size // LINE)
        found = self._dice.integers(0, 256, (lines, LINE), np.uint8)
        loud = self._dice.random(lines) < 0.5
        found[loud] = LOUD[found[loud] & 1]
        return found.reshape(-1)[:size]

    def view(self, slot: int, name: str) -> Array:
        """One tensor of one set, in shared memory."""
        return self.arena.view(self.place(slot, name))

    def place(self, slot: int, name: str) -> Placed:
        """Where one tensor of one set lies."""
        for place in self.layouts[slot].tensors:
            if place.name == name:
                return place
        raise KeyError(name)

    def beside(self, slot: int) -> Finding | None:
        """The first guard zone that somebody wrote to."""
        for place in self.layouts[slot].tensors:
            number = self._first[place.offset]
            for zone, put in zip(
                self._zones[number : number + 2], self._put[number : number + 2], strict=True
            ):
                touched = int((zone != put).sum())
                if touched:
                    reason = f"{touched} bytes beside {place.name} were overwritten"
                    evidence = {"tensor": place.name, "bytes": touched}
                    return Finding(Outcome.OUT_OF_BOUNDS, reason, evidence)
        return None

    def raw(self, place: Placed) -> NDArray[np.uint8]:
        """The bytes of one tensor's storage."""
        return self.arena.bytes[place.offset : place.offset + place.nbytes]

    def gaps(self, place: Placed) -> NDArray[np.uint8]:
        """The bytes between the elements of a strided tensor; none for a dense one."""
        mask = self._gaps.get(place.offset)
        raw = self.raw(place)
        return raw[:0] if mask is None else raw[mask]


def _gaps(place: Placed) -> NDArray[np.bool_] | None:
    """Which bytes of a tensor's storage belong to no element; None if all do."""
    if place.strides == default_strides(place.shape) or not place.nbytes:
        return None
    size = numpy_dtype(place.dtype).itemsize
    unused = np.ones((place.nbytes // size, size), np.bool_)
    addresses = np.zeros(place.shape, np.int64)
    for axis, step in enumerate(place.strides):
        shape = [1] * len(place.shape)
        shape[axis] = -1
        addresses += (np.arange(place.shape[axis]) * step).reshape(shape)
    unused[addresses.reshape(-1)] = False
    return unused.reshape(-1)
