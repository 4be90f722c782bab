"""More draws of inputs that a task's own code makes, for those that must not be changed by hand.

Codes may have a structure that nobody declared (offsets that ascend, labels that are a
permutation), so elements of two draws cannot be mixed: a whole other draw takes their place.
Drawing has its price, so it is bounded; after that, earlier draws come again in a secret order.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Draw = Callable[[int], Mapping[str, Array]]
"""All inputs of a case, by seed."""
SECONDS = 3.0
"""What drawing may take in the life of one set of buffers."""
KEPT_BYTES = 1 << 28
"""Of earlier draws, which come again when the time is used up."""
ALIKE = 3
"""Draws that may be equal to the first before it is believed that all are."""


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
        self._kept: list[dict[str, Array]] = []
        self._spent_s = 0.0
        self._alike = 0

    @property
    def constant(self) -> bool:
        """Whether the task's code makes the same ones whatever the seed is."""
        return self._alike >= ALIKE

    def next(self, random: np.random.Generator) -> Mapping[str, Array]:
        """Another draw.

        Args:
            random: a secret stream.
        """
        seed = int(random.integers(1 << 62))
        if self.constant:
            return self._first
        if self._spent_s > SECONDS and self._kept:
            return self._kept[seed % len(self._kept)]
        began = time.monotonic()
        made = self._draw(seed)
        found = {name: made[name] for name in self._names}
        self._spent_s += time.monotonic() - began
        same = all(np.array_equal(found[name], self._first[name]) for name in self._names)
        self._alike = self._alike + 1 if same and not self._kept else 0
        size = sum(one.nbytes for one in found.values()) or 1
        if not same and len(self._kept) * size < KEPT_BYTES:
            self._kept.append(found)
        return found
