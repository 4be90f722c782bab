"""Torch references whose sums of a product are rounded once; see ``contraction.py``."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.weak import WeakIdKeyDictionary

from kernelwright.evaluation.oracle.contraction import contracted, exact_product
from kernelwright.evaluation.oracle.promotion import Promoted

aten = torch.ops.aten
_TIMES = (aten.mul, aten.mul_)
_MINUS = (aten.sub, aten.sub_)
_PLUS = (aten.add, aten.add_, *_MINUS)
_TYPES = (torch.float32, torch.float64)


class Contracted(Promoted):
    """Casts go to ``wide``, and a product and its sum with something are rounded once."""

    def __init__(self, wide: Any) -> None:
        super().__init__(wide)
        self._products: Any = WeakIdKeyDictionary()
        """By tensor: the product before it was rounded, and the tensor's version then."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        args, kwargs = self.widened(args, kwargs)
        name = func.overloadpacket
        product = total = None
        if name in _TIMES:
            product = exact_product([_array(one) for one in args])
        elif name in _PLUS and len(args) == 2 and not kwargs:
            total = self._sum(args, minus=name in _MINUS)
        result = func(*args, **kwargs)
        if total is not None:
            result.copy_(total)
        if product is not None:
            # What is above us counts a change in place after we return.
            self._products[result] = product, result._version + func._schema.is_mutable
        return result

    def _sum(self, args: Sequence[Any], *, minus: bool) -> Any:
        for place, one in enumerate(args):
            known = self._products.get(one) if isinstance(one, torch.Tensor) else None
            if known is None or known[1] != one._version:
                continue
            dtype, other = _array(one).dtype, _array(args[1 - place])
            if other is not None and np.result_type(dtype, other) == dtype:
                swap = place == 1
                found = contracted(known[0], other, dtype, swap=swap, minus=minus)
                return torch.from_numpy(np.asarray(found))
        return None


def _array(value: Any) -> Any:
    """What numpy can compute with: a tensor's numbers, or a number; None otherwise."""
    if not isinstance(value, torch.Tensor):
        return value if isinstance(value, bool | int | float) else None
    if value.dtype not in _TYPES or value.layout is not torch.strided:
        return None
    return value.detach().resolve_conj().resolve_neg().numpy()
