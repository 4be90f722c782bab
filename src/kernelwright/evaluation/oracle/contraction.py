"""An array whose sums of a product are rounded once, as compilers contract them.

``a * b + c`` becomes one instruction in most compiled code. It is rounded less often, and may yet
lie further from the truth: in a recurrence the two roundings that it saves can cancel each other.
Products know what they are exactly; whatever else is done with one takes it as rounded.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

EXACT: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.float32): np.dtype(np.float64),
    np.dtype(np.float64): np.dtype(np.longdouble),
}
"""In what a product is held; that of float64 is held with eleven bits more, not exactly."""


class ContractedArray(np.ndarray):
    """An array of float32 or float64 that may be a product."""

    __array_priority__ = 100
    product: Any = None
    """What it is before it was rounded; None: no product."""

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: Any, *inputs: Any, out: Any = None, **kwargs: Any
    ) -> Any:
        plain = [_plain(item) for item in inputs]
        target = None if out is None else _plain(out[0])
        result: Any = None
        if method == "__call__" and ufunc in (np.add, np.subtract) and not kwargs:
            result = _contracted(ufunc, inputs)
        if result is None:
            result = getattr(ufunc, method)(*plain, **kwargs)
        wrapped = result
        if isinstance(result, np.ndarray | np.generic):
            wrapped = np.asarray(result).view(ContractedArray)
        if method == "__call__" and ufunc is np.multiply and not kwargs:
            wrapped.product = exact_product(plain)
        if target is None:
            return wrapped
        target[...] = wrapped
        if isinstance(out[0], ContractedArray):
            out[0].product = wrapped.product
        return out[0]

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self.product = None


def contracted(product: Any, other: Any, dtype: np.dtype[Any], *, swap: bool, minus: bool) -> Any:
    """A product and something, or the difference of them, rounded once.

    Args:
        product: unrounded.
        other: of ``dtype``.
        dtype: of the result.
        swap: the product is what is taken away.
        minus: a difference, not a sum.
    """
    wide = np.asarray(other).astype(dtype).astype(product.dtype)
    if not minus:
        return (product + wide).astype(dtype)
    return (wide - product if swap else product - wide).astype(dtype)


def _contracted(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    for place, item in enumerate(inputs):
        product = item.product if isinstance(item, ContractedArray) else None
        if product is None:
            continue
        other = _plain(inputs[1 - place])
        dtype = np.result_type(_plain(item), other)
        if dtype == item.dtype:
            return contracted(product, other, dtype, swap=place == 1, minus=ufunc is np.subtract)
    return None


def exact_product(factors: Sequence[Any]) -> Any:
    """The product of two arrays, or of one and a number, before it is rounded; None: unknown."""
    if any(one is None for one in factors):
        return None
    dtype = np.result_type(*factors)
    wide = EXACT.get(dtype)
    if wide is None:
        return None
    # A number of Python's takes part as one of the array's type.
    left, right = (np.asarray(one).astype(dtype).astype(wide) for one in factors)
    return left * right


def _plain(item: Any) -> Any:
    return item.view(np.ndarray) if isinstance(item, ContractedArray) else item
