"""Where honest evaluations of one output and its answer part by what no tolerance measures.

Whole numbers and truth values that turn at a boundary, as of ``rint(x / s)`` and ``x @ w > 0``,
and floats that overflow in some arithmetics only. While such elements are few, what any honest
evaluation makes of them is right. Many of them tell that the output says nothing: then nothing is
accepted here, and whoever asks must leave it uncompared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kernelwright.checks.distance import Array, kinds_differ

FEW = 100
"""One element in so many may be in doubt, and a single one of several always."""


def few(places: int, size: int) -> bool:
    """Whether so many elements of ``size`` are few enough to be in doubt."""
    return places * FEW <= size or places == 1 < size


@dataclass(frozen=True, eq=False)
class Doubts:
    """The elements of one output that are in doubt."""

    places: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    """Flat indices, ascending."""
    values: tuple[Array, ...] = ()
    """What each honest evaluation has there; none for floats, of which any value will do."""
    size: int = 0
    """Elements of the output."""
    however_many: bool = False
    """They are accepted even where they are many, and the output is compared all the same."""

    @classmethod
    def of_integers(cls, truth: Array, honest: Sequence[Array]) -> "Doubts":
        """Elements at which an honest evaluation differs from ``truth``, of the same shape."""
        differ = np.zeros(truth.size, bool)
        for one in honest:
            differ |= one.reshape(-1) != truth.reshape(-1)
        places = np.flatnonzero(differ)
        return cls(places, tuple(one.reshape(-1)[places] for one in honest), truth.size)

    @classmethod
    def of_floats(cls, truth: Array, misplaced: Sequence[Array]) -> "Doubts":
        """Elements that are not finite as ``truth`` is, in any of the evaluations ``misplaced``."""
        differ = np.zeros(truth.size, bool)
        for one in misplaced:
            differ |= kinds_differ(one.reshape(-1), truth.reshape(-1))
        return cls(np.flatnonzero(differ), (), truth.size)

    @property
    def share(self) -> float:
        """The share of the elements that is in doubt."""
        return self.places.size / self.size if self.size else 0.0

    @property
    def many(self) -> bool:
        """Whether the output says nothing: more than one element in a hundred is in doubt."""
        return not self.however_many and not few(self.places.size, self.size)

    def granted(self) -> "Doubts":
        """The same, accepted however many they are."""
        return replace(self, however_many=True)

    def settled(self, got: Array, truth: Array) -> Array:
        """``got``, or a copy with the right values wherever it has what is accepted in doubt.

        Args:
            got: an output.
            truth: its answer, of the same shape.
        """
        if self.many or not self.places.size:
            return got
        found = got.astype(got.dtype if self.values else np.float64, order="C")
        flat = found.reshape(-1)
        there = flat[self.places]
        accepted = np.full(there.shape, not self.values)
        for one in self.values:
            accepted |= there == one
        flat[self.places] = np.where(accepted, truth.reshape(-1)[self.places], there)
        return found


NO_DOUBTS = Doubts()
