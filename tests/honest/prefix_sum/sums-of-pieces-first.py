"""Running sums of pieces of a row, then the pieces' totals are added on."""

import torch

PIECE = 4096


def prefix_sum(x, y, M, N):
    whole = N // PIECE * PIECE
    if whole:
        pieces = x[:, :whole].unflatten(1, (-1, PIECE))
        out = y[:, :whole].unflatten(1, (-1, PIECE))
        out.copy_(pieces.cumsum(-1))
        before = out[..., -1].cumsum(-1)
        out[:, 1:] += before[:, :-1, None]
    if whole < N:
        rest = x[:, whole:].long().cumsum_(-1)
        if whole:
            rest += y[:, whole - 1, None]
        y[:, whole:] = rest
