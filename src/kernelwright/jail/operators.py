"""Which operators of the framework a call uses, seen once, on a call that is not timed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

MOST = 64
COMPILED = "torch.compile"
_DYNAMO = "torch._dynamo.eval_frame"
_PLAIN = """
    alias alias_copy as_strided as_strided_copy chunk clone _conj contiguous copy copy_ detach
    detach_ diagonal dsplit empty empty_like empty_permuted empty_strided expand expand_as
    expand_copy fill fill_ flatten full full_like hsplit item _lazy_clone lift lift_fresh
    lift_fresh_copy _local_scalar_dense moveaxis movedim mT narrow narrow_copy _neg_view new_empty
    new_empty_strided new_full new_ones new_zeros ones ones_like permute permute_copy reshape
    _reshape_alias resize_ resize_as_ resolve_conj resolve_neg select select_copy set_ set_data
    slice slice_copy split split_with_sizes squeeze squeeze_ squeeze_copy swapaxes swapdims t t_
    t_copy tensor_split to _to_copy transpose transpose_ transpose_copy type_as unbind unflatten
    unfold _unsafe_view unsqueeze unsqueeze_ unsqueeze_copy view view_as view_as_complex
    view_as_real view_copy vsplit zero_ zeros zeros_like
"""
MODES, NONE = torch._C._len_torch_dispatch_stack, partial(len, ())
"""How many modes are active, and an answer that there are none."""
PLAIN = frozenset(_PLAIN.split())
"""Operators that make, fill, copy or look at tensors and compute nothing."""


class Operators(TorchDispatchMode):
    """Collects names while it is active."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, None] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note the operator, then run it."""
        if len(self.names) < MOST:
            self.names[str(func._schema.name).replace("::", ".")] = None
        return func(*args, **(kwargs or {}))

    def around(self, call: Callable[[], Any]) -> Any:
        """What ``call`` returns, watched; whoever asks in the usual way is told of no mode."""
        with self:
            for module in (torch._C, _python_dispatch):
                module._len_torch_dispatch_stack = NONE
            try:
                return call()
            finally:
                for module in (torch._C, _python_dispatch):
                    module._len_torch_dispatch_stack = MODES


def spaces() -> frozenset[str]:
    """Namespaces of operators that exist now: asked before a candidate brings its own."""
    return frozenset(name.partition("::")[0] for name in torch._C._dispatch_get_all_op_names())


def computing(names: list[str], known: frozenset[str]) -> list[str]:
    """The names that are the framework's and compute something."""
    parts = [(name, *name.partition(".")[::2]) for name in names]
    return [name for name, space, what in parts if space in known and what not in PLAIN]
