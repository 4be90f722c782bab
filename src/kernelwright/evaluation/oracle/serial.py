"""Arrays that sum in a chosen way, so that a reference need not be rewritten.

:class:`SerialArray` sums strictly one after the other, as an honest loop would. In a
:class:`NarrowArray` results are rounded to its narrow type, as frameworks do, while sums are made
in float32. Both reach operators, methods and functions alike through numpy's own protocols.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.evaluation.oracle.sums import matmul, reduce

Array = NDArray[Any]
_SUMS = {np.add, np.multiply}


class SerialArray(np.ndarray):
    """An array whose sums and products of matrices accumulate strictly serially."""

    __array_priority__ = 100

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: Any, *inputs: Any, out: Any = None, **kwargs: Any
    ) -> Any:
        plain = [_plain(item) for item in inputs]
        result: Any
        if method == "reduce" and ufunc in _SUMS and _summable(plain[0], kwargs):
            result = reduce(ufunc, plain[0], **_reduction(kwargs))
        elif method == "__call__" and ufunc is np.matmul and not kwargs:
            result = matmul(*plain)
        elif method == "__call__" and ufunc is np.vecdot and not kwargs:
            result = reduce(np.add, np.conjugate(plain[0]) * plain[1], axis=-1)
        else:
            result = called(ufunc, method, plain, out, kwargs)
        if out is not None:
            _plain(out[0])[...] = _plain(result)
            return out[0]
        return wrapped(result, SerialArray)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        replacement = _FUNCTIONS.get(func)
        if replacement is None:
            return wrapped(super().__array_function__(func, types, args, kwargs), SerialArray)
        return replacement(*args, **kwargs)


class NarrowArray(np.ndarray):
    """An array of a narrow float type: operations in float32, every result rounded again."""

    __array_priority__ = 100

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: Any, *inputs: Any, out: Any = None, **kwargs: Any
    ) -> Any:
        plain = [_plain(item) for item in inputs]
        narrow = [item.dtype for item in plain if _is_narrow(item)]
        wide = None if out is None else [_widened(_plain(out[0]))]
        result = called(ufunc, method, [_widened(item) for item in plain], wide, kwargs)
        strong = any(
            isinstance(item, np.ndarray)
            and item.ndim
            and np.issubdtype(item.dtype, np.floating)
            and not _is_narrow(item)
            for item in plain
        )
        if narrow and not strong and kwargs.get("dtype") is None:
            result = _rounded(result, narrow[0])
        if out is not None:
            _plain(out[0])[...] = result
            return out[0]
        return wrapped(result, NarrowArray)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func not in _WIDE:
            return wrapped(super().__array_function__(func, types, args, kwargs), NarrowArray)
        wide = [_widened(_plain(item)) for item in args]
        plain = {name: _plain(value) for name, value in kwargs.items()}
        result = _rounded(func(*wide, **plain), self.dtype)
        return wrapped(result, NarrowArray)


def called(
    ufunc: np.ufunc, method: str, inputs: Sequence[Any], out: Any, kwargs: dict[str, Any]
) -> Any:
    """What numpy makes of plain inputs; elements that a mask leaves out are those of ``out``.

    Args:
        ufunc: what is called.
        method: ``__call__``, ``reduce`` and so on.
        inputs: plain arrays and numbers.
        out: where the result was to go, in a sequence; None: nowhere.
        kwargs: everything else, a mask among it.
    """
    if kwargs.get("where", True) is not True:
        kwargs = {**kwargs, "where": np.asarray(kwargs["where"])}
        if out is not None:
            kwargs["out"] = np.array(out[0])
    return getattr(ufunc, method)(*inputs, **kwargs)


def wrapped(result: Any, kind: type[np.ndarray]) -> Any:
    """A result of numpy's whose arrays are of that class.

    Functions that make new arrays, like ``where`` and ``tril``, drop the class of what they were
    given, and whatever is summed afterwards would be summed in numpy's order.
    """
    if isinstance(result, tuple | list):
        items = [wrapped(item, kind) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    if isinstance(result, np.ndarray | np.generic):
        return np.asarray(result).view(kind)
    return result


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """``tensordot`` as numpy defines it, on :func:`matmul`."""
    a, b = _plain(np.asanyarray(a)), _plain(np.asanyarray(b))
    if isinstance(axes, int):
        first, second = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        first, second = (np.atleast_1d(one).tolist() for one in axes)
    first, second = [n % a.ndim for n in first], [n % b.ndim for n in second]
    free_a = [n for n in range(a.ndim) if n not in first]
    free_b = [n for n in range(b.ndim) if n not in second]
    depth = int(np.prod([a.shape[n] for n in first]))
    left = a.transpose(free_a + first).reshape(-1, depth)
    right = b.transpose(second + free_b).reshape(depth, -1)
    shape = [a.shape[n] for n in free_a] + [b.shape[n] for n in free_b]
    return wrapped(matmul(left, right).reshape(shape), SerialArray)


def einsum(subscripts: Any, *operands: Any, **kwargs: Any) -> Any:
    """``einsum`` over two operands as one serial product of matrices; other forms are numpy's."""
    plain = [_plain(item) for item in operands]
    text = str(subscripts).replace(" ", "")
    terms, arrow, output = text.partition("->")
    names = terms.split(",")
    repeated = any(len(set(term)) < len(term) for term in names)
    if len(plain) != 2 or not arrow or "." in text or repeated or len(names) != 2:
        return wrapped(np.einsum(subscripts, *plain, **kwargs), SerialArray)
    for place, other in ((0, 1), (1, 0)):
        alone = [n for n, one in enumerate(names[place]) if one not in names[other] + output]
        plain[place] = reduce(np.add, plain[place], axis=tuple(alone)) if alone else plain[place]
        names[place] = "".join(x for n, x in enumerate(names[place]) if n not in alone)
    a, b = names
    batch = [x for x in a if x in b and x in output]
    inner = [x for x in a if x in b and x not in output]
    rows, columns = [x for x in a if x not in b], [x for x in b if x not in a]
    sizes = dict(zip(a + b, plain[0].shape + plain[1].shape, strict=True))

    def matrices(array: Array, term: str, *groups: list[str]) -> Array:
        order = [term.index(x) for group in groups for x in group]
        shape = [sizes[x] for x in groups[0]]
        shape += [int(np.prod([sizes[x] for x in group])) for group in groups[1:]]
        return array.transpose(order).reshape(shape)

    product = matmul(
        matrices(plain[0], a, batch, rows, inner), matrices(plain[1], b, batch, inner, columns)
    )
    order = batch + rows + columns
    spread = product.reshape([sizes[x] for x in order])
    return wrapped(spread.transpose([order.index(x) for x in output]), SerialArray)


def _dot(a: Any, b: Any) -> Any:
    a, b = np.asanyarray(a), np.asanyarray(b)
    if not a.ndim or not b.ndim:
        return a * b
    return tensordot(a, b, ([a.ndim - 1], [max(b.ndim - 2, 0)]))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord not in (None, 2) or (axis is None and np.ndim(x) > 1 and ord is not None):
        return np.linalg.norm(_plain(x), ord, axis, keepdims)
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def _plain(item: Any) -> Any:
    return item.view(np.ndarray) if isinstance(item, SerialArray | NarrowArray) else item


def _is_narrow(item: Any) -> bool:
    """Whether an array's type is a float narrower than float32, of numpy or of ml_dtypes."""
    return isinstance(item, np.ndarray) and item.dtype.itemsize < 4 and "float" in item.dtype.name


def _widened(item: Any) -> Any:
    return item.astype(np.float32) if _is_narrow(item) else item


def _rounded(result: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(result, tuple):
        return tuple(_rounded(item, dtype) for item in result)
    floating = np.issubdtype(getattr(result, "dtype", np.dtype(bool)), np.floating)
    return np.asarray(result).astype(dtype) if floating else result


def _summable(array: Any, kwargs: dict[str, Any]) -> bool:
    dtype = kwargs.get("dtype") or getattr(array, "dtype", np.dtype(bool))
    ordinary = kwargs.get("where", True) is True and "initial" not in kwargs
    return ordinary and bool(np.issubdtype(dtype, np.floating))


def _reduction(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {key: kwargs[key] for key in ("axis", "dtype", "keepdims") if key in kwargs}


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.dot: _dot,
    np.inner: lambda a, b: tensordot(a, b, ([-1], [-1])) if np.ndim(a) and np.ndim(b) else a * b,
    np.vdot: lambda a, b: np.sum(np.ravel(a) * np.ravel(b)),
    np.tensordot: tensordot,
    np.einsum: einsum,
    np.linalg.norm: _norm,
}
_WIDE = {
    np.mean, np.var, np.std, np.average, np.dot, np.inner, np.vdot, np.tensordot, np.einsum,
    np.linalg.norm, np.convolve, np.correlate,
}  # fmt: skip
