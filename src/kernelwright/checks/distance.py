"""How far an array lies from the float64 answer, measured a cache's worth at a time.

Knows nothing of what is allowed; see :mod:`kernelwright.checks.correctness`.
"""

import math
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
CHUNK = 1 << 15
"""Elements compared at a time: the work stays in the second-level cache."""
TILE = 1 << 12


@dataclass(frozen=True)
class Errors:
    """Distance of one array from the float64 answer."""

    largest: float
    rms: float
    index: int
    """Flat index of the largest error."""
    tile: int
    """First flat index of the stretch of 4096 elements with the largest mean square error."""
    tile_rms: float
    misplaced: int
    """Elements whose NaN or infinity differs in kind or position from the answer's."""
    first_misplaced: int = -1


def measure(got: Array, truth: Array) -> Errors:
    """Distance of ``got`` from ``truth`` (float64), over the finite elements of both."""
    flat, right = np.ascontiguousarray(got).reshape(-1), np.ascontiguousarray(truth).reshape(-1)
    index = tile = 0
    largest, total, tile_rms, misplaced, first = 0.0, 0.0, 0.0, 0, -1
    for start in range(0, flat.size, CHUNK):
        expected = right[start : start + CHUNK]
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.abs(as_double(flat[start : start + CHUNK]) - expected)
        top = int(error.argmax())
        if not np.isfinite(error[top]):
            error, wrong = _special(flat[start : start + CHUNK], expected, error)
            if wrong.size and first < 0:
                first = start + int(wrong[0])
            misplaced += int(wrong.size)
            top = int(error.argmax())
        if error[top] > largest:
            largest, index = float(error[top]), start + top
        for offset in range(0, error.size, TILE):
            part = error[offset : offset + TILE]
            square = float(part @ part)
            total += square
            mean = math.sqrt(square / part.size)
            if mean > tile_rms:
                tile_rms, tile = mean, start + offset
    rms = math.sqrt(total / flat.size) if flat.size else 0.0
    return Errors(largest, rms, index, tile, tile_rms, misplaced, first)


def ulp(scale: float, dtype: np.dtype[Any]) -> float:
    """Spacing of ``dtype`` at ``scale``; the smallest positive number at zero."""
    info = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    tiny = float(info.smallest_subnormal)
    if scale <= 0 or not math.isfinite(scale):
        return tiny
    return max(float(info.eps) * 2.0 ** math.floor(math.log2(scale)), tiny)


def as_double(values: Array) -> Array:
    """The values in float64."""
    return values.astype(np.float64)


def _special(values: Array, expected: Array, error: Array) -> tuple[Array, Array]:
    """Errors with non-finite places zeroed, and the indices where their kinds differ."""
    odd = ~np.isfinite(as_double(values)) | ~np.isfinite(expected)
    return np.where(odd, 0.0, error), np.flatnonzero(kinds_differ(values, expected))


def kinds_differ(values: Array, expected: Array) -> Array:
    """Where one of two arrays of a shape is not finite and the other is not so alike; booleans."""
    got = as_double(values)
    found: Array = (got != expected) & ~(np.isnan(got) & np.isnan(expected))
    found &= ~(np.isfinite(got) & np.isfinite(expected))
    return found


def saturate(truth: Array, dtype: np.dtype[Any]) -> Array:
    """Turn what lies beyond the range of ``dtype`` into what a conversion makes of it, in place."""
    limit = float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
    flat = truth.reshape(-1)
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, flat.size, CHUNK):
            part = flat[start : start + CHUNK]
            beyond = np.abs(part) > limit
            if beyond.any():
                part[beyond] = part[beyond].astype(dtype).astype(np.float64)
    return truth


def scales(truth: Array) -> tuple[float, float]:
    """Largest magnitude and root mean square of the finite elements."""
    largest, total, count = 0.0, 0.0, 0
    flat = truth.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        part = flat[start : start + CHUNK]
        top = float(np.abs(part).max())
        if not math.isfinite(top):
            part = part[np.isfinite(part)]
            top = float(np.abs(part).max()) if part.size else 0.0
        count += part.size
        if top > largest:
            total *= (largest / top) ** 2
            largest = top
        if largest > 0:
            scaled = part / largest
            total += float(scaled @ scaled)
    return largest, largest * math.sqrt(total / count) if count else 0.0
