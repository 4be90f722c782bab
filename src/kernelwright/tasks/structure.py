"""What must not be broken in tensors that a task's own code makes: codes, symmetry, order, sums.

A kernel may rely on any of it, so contents made by hand must have it too. Tensors are looked at in
samples: one that seems to have a structure is treated as if it had, which harms nobody.
"""

import math
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
SAMPLE = 4096
"""Elements that are looked at."""
LINES = 16
"""Rows, or columns, of which sums are made."""
LINE_ELEMENTS = 1 << 22
"""What they may hold together; three are looked at all the same."""
FEW = 64
"""A tensor with fewer different values than this holds codes."""
MOST = 0.9
"""Share of a sample that must agree: products of matrices are symmetric but for rounding."""
OTHER_ZEROS = 0.02
"""Share of a sample that may be zero in one of two tensors only: narrow types round to it."""


def codes(base: Array) -> bool:
    """Whether a tensor that is not empty holds codes: no floats, or a few values again and again.

    Masks and labels are such; what computes with quantities cannot be asked about others.
    """
    if base.dtype.kind in "biu":
        return True
    flat = base.reshape(-1)
    sample = flat[:: max(1, flat.size // SAMPLE)][:SAMPLE].astype(np.float64)
    return np.unique(sample).size < min(FEW, max(2, sample.size // 2))


def symmetric(base: Array) -> bool:
    """Whether the last two axes may be exchanged, within rounding."""
    one, other = _mirrored(base)
    return _agree(one, other)


def rigid(base: Array) -> bool:
    """Whether floats have a structure, beside symmetry, that changing single elements breaks.

    Rows that ascend or descend; rows or columns of one and the same sum; a matrix that is the
    opposite of its mirror image.
    """
    one, other = _mirrored(base)
    return _agree(one, -other) or _ordered(base) or _same_sums(base)


def same_zeros(one: Array, other: Array) -> bool:
    """Whether two tensors of one shape are zero at the same places, as far as a sample shows."""
    places = np.random.default_rng(one.size).integers(one.size, size=SAMPLE)
    differ = (one.reshape(-1)[places] == 0) != (other.reshape(-1)[places] == 0)
    return float(differ.mean()) <= OTHER_ZEROS


def _mirrored(base: Array) -> tuple[Array, Array]:
    """Some elements beside the diagonal and their mirror images; none where there is no square."""
    extent = base.shape[-1] if base.ndim > 1 else 0
    if extent < 2 or base.shape[-2] != extent or not base.size:
        return np.empty(0), np.empty(0)
    matrices = base.reshape(-1, extent, extent)
    random = np.random.default_rng(base.size)
    which = random.integers(len(matrices), size=SAMPLE)
    row = random.integers(extent, size=SAMPLE)
    column = (row + random.integers(1, extent, size=SAMPLE)) % extent
    one, other = matrices[which, row, column], matrices[which, column, row]
    return one.astype(np.float64), other.astype(np.float64)


def _agree(one: Array, other: Array) -> bool:
    if not one.size:
        return False
    with np.errstate(invalid="ignore"):
        finite = np.abs(one[np.isfinite(one)])
        near = 8 * _eps(np.dtype(np.float32)) * (finite.max() if finite.size else 0.0)
        return float(((one == other) | (np.abs(one - other) <= near)).mean()) >= MOST


def _ordered(base: Array) -> bool:
    """Whether every row that is looked at ascends, or every one descends."""
    if base.ndim < 1 or base.shape[-1] < 2 or base.size < 3:
        return False
    rows = base.reshape(-1, base.shape[-1])
    sample = rows[:: max(1, len(rows) // FEW)][:FEW, :SAMPLE].astype(np.float64)
    before, after = sample[:, :-1], sample[:, 1:]
    return bool((before <= after).all() or (before >= after).all())


def _same_sums(base: Array) -> bool:
    """Whether rows, or columns, have one and the same sum; a lone one that of nought or one."""
    if base.ndim < 1 or not base.size:
        return False
    rows = base.reshape(-1, base.shape[-1])
    found = _alike([rows[number] for number in _some(*rows.shape)])
    if not found and base.ndim > 1:
        first = base.reshape(-1, *base.shape[-2:])[0]
        found = _alike([first[:, number] for number in _some(*first.T.shape)])
    return found


def _some(count: int, extent: int) -> range:
    """Numbers of some lines, evenly spread."""
    wanted = max(3, min(LINES, LINE_ELEMENTS // max(extent, 1)))
    return range(0, count, max(1, -(-count // wanted)))


def _alike(lines: list[Array]) -> bool:
    """Whether sums are the same, by what rounding elements and a common factor makes of them."""
    sums: list[float] = []
    near: list[float] = []
    for line in lines:
        wide = line if line.dtype in (np.float32, np.float64) else line.astype(np.float32)
        size, eps = float(np.abs(wide).sum(dtype=np.float64)), _eps(wide.dtype)
        if line.size < 2 or not math.isfinite(size):
            return False
        square = float(np.square(wide, dtype=np.float64).sum())
        sums.append(float(wide.sum(dtype=np.float64)))
        near.append(_eps(line.dtype) * square**0.5 + 16 * eps * size)
    wanted = [1.0, float(np.median(sums))] if len(sums) > 2 else [1.0]
    if lines[0].dtype.itemsize > 1:  # where rounding is that coarse, nought is reached by luck
        wanted.append(0.0)
    return any(bool((np.abs(np.subtract(sums, one)) <= near).all()) for one in wanted)


def _eps(dtype: np.dtype[Any]) -> float:
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    return float(info.eps)
