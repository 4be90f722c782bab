"""An array whose sums of a product are rounded once, as compilers contract them.

``a * b + c`` becomes one instruction in most compiled code. It is rounded less often, and may yet
lie further from the truth: in a recurrence the two roundings that it saves can cancel each other.
Products know what they are exactly; whatever else is done with one takes it as rounded.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelwright.evaluation.oracle.serial import called, wrapped

NUMERIC = (np.ndarray, np.generic, bool, int, float)
EXACT: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.float32): np.dtype(np.float64),
    np.dtype(np.float64): np.dtype(np.longdouble),
}
"""In what a product is held; that of float64 is held with eleven bits more, not exactly."""


class ContractedArray(np.ndarray):
    """An array of float32 or float64 that may be a product."""

    __array_priority__ = 100
    product: Any = None
    """What it is before it was rounded, and rounded; None: no product."""

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: Any, *inputs: Any, out: Any = None, **kwargs: Any
    ) -> Any:
        plain, alone = [_plain(item) for item in inputs], method == "__call__" and not kwargs
        result: Any = None
        if alone and ufunc in (np.add, np.subtract):
            result = _contracted(ufunc, inputs)
        if result is None:
            result = called(ufunc, method, plain, out, kwargs)
        found = result
        if isinstance(result, np.ndarray | np.generic):
            found = np.asarray(result).view(ContractedArray)
        if alone and ufunc is np.multiply:
            exact = exact_product(plain)
            found.product = None if exact is None else (exact, np.array(_plain(found)))
        if out is None:
            return found
        _plain(out[0])[...] = _plain(found)
        if isinstance(out[0], ContractedArray):
            out[0].product = found.product
        return out[0]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return wrapped(super().__array_function__(func, types, args, kwargs), ContractedArray)

    def unrounded(self) -> Any:
        """The product that it still is, wherever it was written since; None: it is none."""
        if self.product is None:
            return None
        exact, rounded = self.product
        now = _plain(self)
        return exact if np.array_equal(now, rounded, equal_nan=True) else None


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
        product = item.unrounded() if isinstance(item, ContractedArray) else None
        other = _plain(inputs[1 - place])
        if product is None or not isinstance(other, NUMERIC):
            continue
        dtype = np.result_type(_plain(item), other)
        if dtype == item.dtype:
            return contracted(product, other, dtype, swap=place == 1, minus=ufunc is np.subtract)
    return None


def exact_product(factors: Sequence[Any]) -> Any:
    """The product of two arrays, or of one and a number, before it is rounded; None: unknown."""
    if not all(isinstance(one, NUMERIC) for one in factors):
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
