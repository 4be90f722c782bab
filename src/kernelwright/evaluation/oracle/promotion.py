"""Torch references in other arithmetic: every float of one width, sums strictly in order.

Two dispatch modes see each operation below autograd. They change the type it computes in or the
order in which it sums, never what it computes. Operations not in the tables run as they are.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch._decomp import get_decompositions
from torch.utils._python_dispatch import TorchDispatchMode

from kernelwright.evaluation.oracle.serial import SerialArray
from kernelwright.evaluation.oracle.sums import matmul, reduce
from kernelwright.tasks.arrays import conv

aten = torch.ops.aten
_COMPOSITE = [
    aten._softmax, aten._log_softmax, aten.native_layer_norm, aten.native_group_norm,
    aten.native_batch_norm, aten._native_batch_norm_legit,
    aten._native_batch_norm_legit_no_training, aten._native_batch_norm_legit_functional,
    aten._batch_norm_with_update, aten.logsumexp,
    aten._scaled_dot_product_flash_attention_for_cpu, aten.mse_loss, aten.binary_cross_entropy,
    aten.smooth_l1_loss, aten.huber_loss, aten.nll_loss_forward, aten.nll_loss2d_forward,
    aten.soft_margin_loss, aten._fused_rms_norm, aten.linalg_vector_norm, aten.norm,
    aten.std, aten.std_mean, aten.var_mean, aten.nansum, aten.addr, aten.addmv,
    aten._adaptive_avg_pool2d,
]  # fmt: skip


class Promoted(TorchDispatchMode):
    """Casts and new tensors are of type ``wide`` where the code asks for another float."""

    def __init__(self, wide: Any) -> None:
        super().__init__()
        self.wide = wide

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        args, kwargs = self.widened(args, kwargs)
        return func(*args, **kwargs)

    def widened(self, args: Sequence[Any], kwargs: Any) -> tuple[list[Any], dict[str, Any]]:
        """The arguments with every float dtype among them replaced."""
        return (
            [self._dtype(value) for value in args],
            {name: self._dtype(value) for name, value in (kwargs or {}).items()},
        )

    def _dtype(self, value: Any) -> Any:
        floating = isinstance(value, torch.dtype) and value.is_floating_point
        return self.wide if floating else value


class Serial(Promoted):
    """Also sums strictly in order, larger operations being taken apart first."""

    def __init__(self, wide: Any) -> None:
        super().__init__(wide)
        self.parts = get_decompositions(_COMPOSITE)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        args, kwargs = self.widened(args, kwargs)
        ours = _TABLE.get(func)
        if ours is not None:
            result = ours(*args, **kwargs)
            if result is not NotImplemented:
                return result
        apart = self.parts.get(func)
        if apart is not None:
            with self:
                result = apart(*args, **kwargs)
            if result is not NotImplemented:
                return result
        return func(*args, **kwargs)


def _tensor(array: Any, like: Any) -> Any:
    plain = np.array(array, copy=True, order="C").view(np.ndarray)
    return torch.from_numpy(plain).to(like.dtype)


def _array(tensor: Any) -> Any:
    return tensor.detach().resolve_conj().resolve_neg().numpy()


def _floating(*tensors: Any) -> bool:
    """Whether all are tensors of a float type that numpy has."""
    return all(
        isinstance(one, torch.Tensor) and one.dtype in (torch.float32, torch.float64)
        for one in tensors
    )


def _sum(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if not _floating(x) or not x.dim():
        return NotImplemented
    axis = None if dim is None or (isinstance(dim, list | tuple) and not dim) else _axes(dim)
    found = _tensor(reduce(np.add, _array(x), axis, keepdims=keepdim), x)
    return found if dtype is None else found.to(dtype)


def _prod(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if not _floating(x) or not x.dim():
        return NotImplemented
    return _tensor(reduce(np.multiply, _array(x), dim, keepdims=keepdim), x)


def _mean(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    total = _sum(x, dim, keepdim)
    if total is NotImplemented or not total.numel():
        return NotImplemented
    return total / (x.numel() / total.numel())


def _var(x: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    centre = _mean(x, dim, keepdim=True) if dim is not None else _mean(x)
    if centre is NotImplemented:
        return NotImplemented
    total = _sum((x - centre) ** 2, dim, keepdim)
    count = x.numel() / max(total.numel(), 1)
    return total / max(count - (1 if correction is None else correction), 0)


def _mm(a: Any, b: Any) -> Any:
    return _tensor(matmul(_array(a), _array(b)), a) if _floating(a, b) else NotImplemented


def _addmm(c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    product = _mm(a, b)
    if product is NotImplemented:
        return NotImplemented
    return (c * beta if beta != 1 else c) + (product * alpha if alpha != 1 else product)


def _dot(a: Any, b: Any) -> Any:
    return _sum(a * b)


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    product = _mm(x, weight.t())
    if product is NotImplemented or bias is None:
        return product
    return product + bias


def _convolution(
    x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    if not _floating(x, w):
        return NotImplemented
    rank = x.dim() - 2
    steps, pads, gaps, extra = (
        tuple(value) * (rank if len(value) == 1 else 1)
        for value in (stride, padding, dilation, output_padding)
    )
    left, taps = _array(x), _array(w)
    if transposed:
        left, taps = _spread(left, steps, extra), _turned(taps, groups)
        pads = tuple(g * (k - 1) - p for g, k, p in zip(gaps, taps.shape[2:], pads, strict=True))
        if min(pads, default=0) < 0:
            return NotImplemented
        steps = (1,) * rank
    found = conv(
        left.view(SerialArray), taps.view(SerialArray),
        stride=steps, padding=pads, dilation=gaps, groups=groups,
    )  # fmt: skip
    result = _tensor(found, x)
    return result if bias is None else result + bias.reshape(-1, *([1] * rank))


def _spread(x: Any, steps: tuple[int, ...], extra: tuple[int, ...]) -> Any:
    """Zeros between elements: a transposed convolution is one over a spread input."""
    sizes = [
        (n - 1) * step + 1 + more for n, step, more in zip(x.shape[2:], steps, extra, strict=True)
    ]
    found = np.zeros((*x.shape[:2], *sizes), x.dtype)
    ends = tuple(
        slice(0, (n - 1) * step + 1, step) for n, step in zip(x.shape[2:], steps, strict=True)
    )
    found[(slice(None), slice(None), *ends)] = x
    return found


def _turned(w: Any, groups: int) -> Any:
    """Weights [I, O / groups, taps...] of a transposed convolution as [O, I / groups, taps...]."""
    inputs, outputs, *taps = w.shape
    split = w.reshape(groups, inputs // groups, outputs, *taps)
    swapped = split.swapaxes(1, 2).reshape(groups * outputs, inputs // groups, *taps)
    return np.flip(swapped, axis=tuple(range(2, w.ndim))).copy()


def _axes(dim: Any) -> Any:
    return tuple(dim) if isinstance(dim, list | tuple) else (dim,)


_TABLE: dict[Any, Callable[..., Any]] = {
    aten.sum.default: _sum,
    aten.sum.dim_IntList: _sum,
    aten.mean.default: _mean,
    aten.mean.dim: _mean,
    aten.var.correction: _var,
    aten.prod.default: _prod,
    aten.prod.dim_int: _prod,
    aten.mm.default: _mm,
    aten.bmm.default: _mm,
    aten.mv.default: _mm,
    aten.matmul.default: _mm,
    aten.dot.default: _dot,
    aten.addmm.default: _addmm,
    aten.baddbmm.default: _addmm,
    aten.linear.default: _linear,
    aten.convolution.default: _convolution,
}
