"""Array namespaces for references: the array API standard, plus ``erf`` and ``conv``.

A reference of kind ``array`` gets one of these as ``xp`` and runs unchanged on numpy or, in the
processes that may import it, on torch. No framework is imported here: its module and its extra
functions are handed in.
"""

import types
from collections.abc import Callable, Mapping
from typing import Any

import array_api_compat.numpy as numpy_api
import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[Any]


def namespace(
    module: types.ModuleType | None = None,
    extras: Mapping[str, Callable[..., Any]] | None = None,
) -> types.ModuleType:
    """The names of ``module`` and of ``extras`` in one module object.

    A real module, not an object that looks names up late, so that compilers of Python functions
    see through it.

    Args:
        module: an ``array_api_compat`` namespace; numpy's by default.
        extras: ``erf`` and ``conv`` for it; numpy's by default.
    """
    source = numpy_api if module is None else module
    found = types.ModuleType(f"kernelwright.xp.{source.__name__.rpartition('.')[2]}")
    found.__dict__.update(
        {name: getattr(source, name) for name in dir(source) if not name.startswith("__")}
    )
    found.__dict__.update({"erf": special.erf, "conv": conv} if extras is None else extras)
    return found


def conv(
    x: Array,
    w: Array,
    *,
    stride: int | tuple[int, ...] = 1,
    padding: int | tuple[int, ...] = 0,
    dilation: int | tuple[int, ...] = 1,
    groups: int = 1,
) -> Array:
    """Cross-correlation, channels first, over any number of spatial axes.

    One matrix product a group over gathered windows: the sum runs over channels and taps only, so
    an array type that sums in its own way does so here too.

    Args:
        x: [N, C, spatial...].
        w: [O, C / groups, taps...].
        stride: of the windows, one number or one an axis.
        padding: zeros on both sides of each axis.
        dilation: distance between taps.
        groups: into which channels and outputs are divided.

    Returns:
        [N, O, spatial...].

    Raises:
        ValueError: the shapes do not fit one another.
    """
    rank = x.ndim - 2
    steps, pads, gaps = (_each(value, rank) for value in (stride, padding, dilation))
    if w.ndim != x.ndim or w.shape[0] % groups or w.shape[1] * groups != x.shape[1]:
        raise ValueError(f"cannot convolve {x.shape} with {w.shape} in {groups} groups")
    reach = [gap * (taps - 1) + 1 for gap, taps in zip(gaps, w.shape[2:], strict=True)]
    padded = np.pad(x, ((0, 0), (0, 0), *((pad, pad) for pad in pads)))
    size = [
        (extent - span) // step + 1
        for extent, span, step in zip(padded.shape[2:], reach, steps, strict=True)
    ]
    if any(extent < 0 for extent in size):
        raise ValueError(f"a window of {tuple(reach)} does not fit into {padded.shape[2:]}")
    # [N, C, taps..., spatial...]: taps before positions, so that the copy below runs along rows.
    spatial = padded.strides[2:]
    windows = np.lib.stride_tricks.as_strided(
        padded,
        (*padded.shape[:2], *w.shape[2:], *size),
        (
            *padded.strides[:2],
            *(step * gap for step, gap in zip(spatial, gaps, strict=True)),
            *(step * hop for step, hop in zip(spatial, steps, strict=True)),
        ),
        subok=True,
    )
    depth, places = w.shape[1] * int(np.prod(w.shape[2:])), int(np.prod(size))
    columns = windows.reshape(x.shape[0], groups, depth, places)
    kernels = w.reshape(groups, w.shape[0] // groups, depth)
    result: Array = np.matmul(kernels, columns).reshape(x.shape[0], w.shape[0], *size)
    return result


def _each(value: int | tuple[int, ...], rank: int) -> tuple[int, ...]:
    return (value,) * rank if isinstance(value, int) else tuple(value)
