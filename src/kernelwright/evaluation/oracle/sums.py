"""Sums and products of matrices in strict order, on plain arrays.

Those of numpy are pairwise or blocked; an honest loop is neither.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def reduce(
    ufunc: np.ufunc,
    array: Array,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
) -> Array:
    """A sum or product over ``axis`` in order, every partial result rounded.

    numpy's own reduction is pairwise; its ``accumulate`` is not.
    """
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    axes = tuple(range(array.ndim)) if axis is None else np.atleast_1d(axis).tolist()
    axes = sorted(one % array.ndim for one in axes) if array.ndim else []
    kept = [one for one in range(array.ndim) if one not in axes]
    count = int(np.prod([array.shape[one] for one in axes]))
    shape = tuple(array.shape[one] for one in kept)
    if not count or not axes:
        result: Array = np.asarray(ufunc.reduce(array, axis=tuple(axes)))
    elif axes == [0] and array.ndim > 1:
        result = array[0].copy()
        for row in array[1:]:
            ufunc(result, row, out=result)
    else:
        flat = array.transpose([*kept, *axes]).reshape(*shape, count)
        result = ufunc.accumulate(flat, axis=-1)[..., -1]
    if keepdims:
        result = result.reshape([1 if n in axes else size for n, size in enumerate(array.shape)])
    return np.asarray(result, dtype=array.dtype)


def matmul(a: Array, b: Array) -> Array:
    """A product of matrices as rank-one updates, one step of the inner axis after the other."""
    if not np.issubdtype(np.result_type(a, b), np.floating) or not a.ndim or not b.ndim:
        return np.asarray(np.matmul(a, b))
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    depth = left.shape[-1]
    if depth != right.shape[-2]:
        return np.asarray(np.matmul(a, b))  # raises numpy's own message
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    shape = (*batch, left.shape[-2], right.shape[-1])
    size = int(np.prod(shape))
    if 0 < size * 64 < depth and size * depth <= 1 << 26:
        # A long inner axis and few results: the loop below would take as many turns as its length.
        products = left[..., :, None, :] * np.swapaxes(right, -1, -2)[..., None, :, :]
        result = reduce(np.add, products, axis=-1)
    else:
        result = _updates(left, right, shape)
    if a.ndim == 1:
        result = result[..., 0, :]
    return result[..., 0] if b.ndim == 1 else result


def _updates(left: Array, right: Array, shape: tuple[int, ...]) -> Array:
    result = np.zeros(shape, np.result_type(left, right))
    step = np.empty_like(result)
    columns = np.ascontiguousarray(np.moveaxis(left, -1, 0))
    rows = np.ascontiguousarray(np.moveaxis(right, -2, 0))
    for column, row in zip(columns, rows, strict=True):
        np.multiply(column[..., :, None], row[..., None, :], out=step)
        result += step
    return result
