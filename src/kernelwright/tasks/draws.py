"""More draws of inputs that a task's own code makes, one for each call.

Such inputs may have a structure that nobody declared (offsets that ascend, labels that are a
permutation, a matrix that is symmetric), so elements of two draws cannot be mixed: a whole other
draw takes their place. Drawing has its price, so it is bounded; after that, two earlier draws are
given together, for whoever can make something new of both.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Draw = Callable[[int], Mapping[str, Array]]
"""All inputs of a case, by seed."""
SECONDS = 6.0
"""What drawing may take for the first set of buffers."""
MORE_SECONDS = 1.0
"""The same for each set after it, for which earlier draws are at hand."""
KEPT_BYTES = 1 << 29
"""Of earlier draws, which come again when the time is used up; one is kept in any case."""
ALIKE = 3
"""Draws that may be equal to the first before it is believed that all are."""
ENOUGH = 256
"""Draws at hand from which on a kernel is taken to gain nothing by keeping answers to them."""
SHARES = (0.25, 0.75)
"""Between which one of two draws counts in a combination."""
CHUNK = 1 << 16
"""Elements that are combined at a time, so that they stay in the caches."""


class Drawn(NamedTuple):
    """Contents for one call."""

    contents: Mapping[str, Array]
    new: bool
    """Whether they were drawn for this call."""
    other: Mapping[str, Array] | None = None
    """Another draw, where these are not new."""
    share: float = 1.0
    """What :attr:`contents` count beside the other."""


class Draws:
    """Gives some inputs of one case anew.

    Args:
        draw: makes all of them.
        names: which are wanted.
        first: those that are known already, by name.
    """

    def __init__(self, draw: Draw, names: Sequence[str], first: Mapping[str, Array]) -> None:
        self._draw = draw
        self._names = names
        self._first = first
        self._kept: list[Mapping[str, Array]] = []
        self._left_s = SECONDS
        self._last_s = 0.0
        self._alike = 0
        self._varying: set[str] = set()
        self.repeated = 0
        """Calls whose contents were those of an earlier draw; counted by who fills the buffers."""

    @property
    def constant(self) -> bool:
        """Whether the task's code makes the same ones whatever the seed is."""
        return not self._varying and self._alike >= ALIKE

    @property
    def at_hand(self) -> int:
        """How many different contents there are without drawing again."""
        return 1 + len(self._kept)

    def varies(self, name: str) -> bool:
        """Whether one input was seen to differ between two draws."""
        return name in self._varying

    def begin(self) -> None:
        """Give drawing some time again: other buffers are filled from now on."""
        self._left_s = max(self._left_s, MORE_SECONDS)

    def next(self, random: np.random.Generator) -> Drawn:
        """Another draw, or two earlier ones where there is no time left for that.

        Args:
            random: a secret stream.
        """
        if self.constant:
            return Drawn(self._first, new=False)
        if self._kept and self._left_s <= self._last_s:
            known = [self._first, *self._kept]
            one, other = random.choice(len(known), 2, replace=False)
            return Drawn(known[one], False, known[other], float(random.uniform(*SHARES)))
        began = time.monotonic()
        made = self._draw(int(random.integers(1 << 62)))
        found = {name: made[name] for name in self._names}
        self._look(found)
        self._keep(found)
        self._last_s = time.monotonic() - began
        self._left_s -= self._last_s
        return Drawn(found, new=True)

    def _keep(self, found: Mapping[str, Array]) -> None:
        """Have a draw at hand, if it may be another one and there is room."""
        size = sum(one.nbytes for one in found.values())
        room = not self._kept or (1 + len(self._kept)) * size <= KEPT_BYTES
        if self._varying and room:
            self._kept.append(found)

    def _look(self, found: Mapping[str, Array]) -> None:
        """Note which inputs differ from the first draw."""
        for name in self._names:
            if name not in self._varying and not _same(found[name], self._first[name]):
                self._varying.add(name)
        self._alike += not self._varying


def combined(one: Array, other: Array, share: float) -> Array:
    """Floats between those of two draws, each element in the same proportion.

    What is symmetric, ascends, is zero, positive or bounded, or has sums of one size in both is so
    again. Where nothing finite lies between two elements, that of ``one`` is taken.

    Args:
        one: contiguous.
        other: of the same shape and type.
        share: what ``one`` counts, from 0 to 1.
    """
    found = np.empty_like(one)
    mine, theirs, into = one.reshape(-1), other.reshape(-1), found.reshape(-1)
    wide = one.dtype if one.dtype in (np.float32, np.float64) else np.dtype(np.float32)
    for start in range(0, mine.size, CHUNK):
        end = start + CHUNK
        left, right = (flat[start:end].astype(wide, copy=False) for flat in (mine, theirs))
        with np.errstate(invalid="ignore"):
            part = left * share + right * (1 - share)
        # Rounding may pass both by the last bit, and leave a range that the task relies on.
        np.clip(part, np.minimum(left, right), np.maximum(left, right), out=part)
        into[start:end] = np.where(np.isfinite(part), part, left).astype(one.dtype)
    return found


def _same(one: Array, other: Array) -> bool:
    """Whether two tensors have the same bits; NaN is a value like any other."""
    left, right = (np.ascontiguousarray(each).reshape(-1) for each in (one, other))
    return bool(np.array_equal(left.view(np.uint8), right.view(np.uint8)))
