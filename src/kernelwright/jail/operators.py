"""Which operators of the framework a call uses, seen once, on a call that is not timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

MOST = 64
COMPILED = "torch.compile"
_DYNAMO = "torch._dynamo.eval_frame"
_PLAIN = """
    _conj _neg_view _reshape_alias _to_copy _unsafe_view alias alias_copy as_strided
    as_strided_copy chunk clone contiguous copy copy_ detach detach_ diagonal empty empty_like
    empty_permuted empty_strided expand expand_as fill fill_ flatten full full_like item
    _local_scalar_dense lift lift_fresh movedim moveaxis mT narrow new_empty new_empty_strided
    new_full new_ones new_zeros ones ones_like permute reshape resize_ select set_ slice split
    split_with_sizes squeeze squeeze_ swapaxes t t_ to transpose transpose_ unbind unflatten
    unfold unsqueeze unsqueeze_ view view_as view_as_real view_as_complex zero_ zeros zeros_like
"""
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
        """What ``call`` returns, watched."""
        with self:
            return call()


def spaces() -> frozenset[str]:
    """Namespaces of operators that exist now: asked before a candidate brings its own."""
    return frozenset(name.partition("::")[0] for name in torch._C._dispatch_get_all_op_names())


def computing(names: list[str], known: frozenset[str]) -> list[str]:
    """The names that are the framework's and compute something."""
    parts = [(name, *name.partition(".")[::2]) for name in names]
    return [name for name, space, what in parts if space in known and what not in PLAIN]
