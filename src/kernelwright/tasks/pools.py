"""Secret bits and factors, drawn once and read from two secret places at each use.

Drawing a number for each element would take longer than many kernels. What is read at two places is
joined: a table of what a chunk amounts to at each place of one pool could be kept, at each two
places of it not.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
CHUNK = 1 << 16
"""Elements that share two places in the pool; its parts of the pool stay in the caches."""
PLACES = 1 << 18
"""Places in the pool."""
WIDE = (0.866, 1.118)
"""Magnitudes of what the factors of values around zero are made of; signs are drawn too."""
ALL = (0.8, 1.25)
"""By what all of these are multiplied in common: the sum of many signs hardly varies."""
GENTLE = 2.0**-7
COARSE = 2.0**-4
"""Largest relative change of all other values, half of it, in wide and in narrow types."""
WAYS = ("signed", "gentle", "coarse", "u1", "u2", "u4", "u8")
FACTORS = WAYS[:3]
PLAIN = (np.float32, np.float64)
"""Types in which numpy computes at full speed."""


class Pools:
    """Changes flat tensors by what is drawn from one seed.

    Args:
        seed: of the pools.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._made: dict[str, Array] = {}
        self._factors = np.empty(CHUNK, np.float32)

    def mix(self, flat: Array, out: Array, random: np.random.Generator) -> Array:
        """Take each element from one of two places of the tensor, a chunk at a time; ``out``."""
        whole = f"u{flat.itemsize}"
        masks, shifts = self._pool(whole), random.integers(flat.size, size=2)
        raw, into = flat.view(whole), out.view(whole)
        for start, first, second in _chunks(flat.size, random):
            part = into[start : start + CHUNK]
            one, other = (_from(raw, start + shift, part.size) for shift in shifts)
            mask = masks[first : first + part.size] ^ masks[second : second + part.size]
            # Where the mask has ones the other; a choice by a branch takes far longer.
            np.bitwise_xor(one, other, out=part)
            np.bitwise_and(part, mask, out=part)
            np.bitwise_xor(part, one, out=part)
        return out

    def scale(self, flat: Array, out: Array, random: np.random.Generator, way: str) -> None:
        """Multiply by factors of one kind, a chunk at a time.

        Args:
            flat: contents.
            out: of the same size and type; may be ``flat`` itself.
            random: a secret stream.
            way: one of ``FACTORS``.
        """
        pool, common = self._pool(way), np.float32(1)
        if way == "signed":
            common = np.float32(random.uniform(*ALL))
        for start, first, second in _chunks(flat.size, random):
            part, into = flat[start : start + CHUNK], out[start : start + CHUNK]
            factors = self._factors[: part.size]
            np.multiply(pool[first : first + part.size], common, out=factors)
            factors *= pool[second : second + part.size]
            if part.dtype in PLAIN:
                np.multiply(part, factors, out=into)
            else:
                into[...] = (part.astype(np.float32) * factors).astype(part.dtype)

    def _pool(self, way: str) -> Array:
        if way not in self._made:
            random = np.random.default_rng((self._seed, WAYS.index(way)))
            if way not in FACTORS:
                self._made[way] = -random.integers(2, size=CHUNK + PLACES).astype(way)
                return self._made[way]
            draws = random.random(CHUNK + PLACES, dtype=np.float32)
            if way == "signed":
                signs = 1 - 2 * random.integers(2, size=draws.size).astype(np.float32)
                draws = (WIDE[0] + (WIDE[1] - WIDE[0]) * draws) * signs
            else:
                most = GENTLE if way == "gentle" else COARSE
                draws = 1 + most * (2 * draws - 1)
            self._made[way] = draws.astype(np.float32)
        return self._made[way]


def _chunks(size: int, random: np.random.Generator) -> Iterator[tuple[int, int, int]]:
    """Where each chunk begins, and its two places in the pool."""
    places = random.integers(PLACES, size=(-(-size // CHUNK), 2))
    for start, (first, second) in zip(range(0, size, CHUNK), places, strict=True):
        yield start, first, second


def _from(flat: Array, start: int, count: int) -> Array:
    """So many elements from one place on, going on at the beginning after the last."""
    start %= flat.size
    part = flat[start : start + count]
    return part if part.size == count else np.concatenate((part, flat[: count - part.size]))
