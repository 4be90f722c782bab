"""One row is written down; vmap makes it many."""

from functools import partial

import torch


def one_row(row: torch.Tensor, *, base: float = 0.0) -> torch.Tensor:
    e = torch.exp(row - row.amax() + base)
    return e / e.sum()


many_rows = torch.func.vmap(partial(one_row, base=0.0))


def softmax(x, y, M, N):
    if M and N:
        y.copy_(many_rows(x))
