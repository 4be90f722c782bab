"""Secret bits and factors, drawn once and read from a secret place at each use.

Drawing a number for each element would take longer than many kernels.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

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

    def mix(self, flat: Array, out: Array, random: np.random.Generator) -> Array:
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

    def scale(self, flat: Array, out: Array, random: np.random.Generator, way: str) -> None:
        """Multiply by factors of one kind, a chunk at a time.

        Args:
            flat: contents.
            out: of the same size and type; may be ``flat`` itself.
            random: a secret stream.
            way: one of ``FACTORS``.
        """
        pool = self._pool(way)
        places = random.integers(PLACES, size=-(-flat.size // CHUNK))
        for start, place in zip(range(0, flat.size, CHUNK), places, strict=True):
            part, into = flat[start : start + CHUNK], out[start : start + CHUNK]
            factors = pool[place : place + part.size]
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


def _from(flat: Array, start: int, count: int) -> Array:
    """So many elements from one place on, going on at the beginning after the last."""
    start %= flat.size
    part = flat[start : start + count]
    return part if part.size == count else np.concatenate((part, flat[: count - part.size]))
