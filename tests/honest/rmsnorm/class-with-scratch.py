"""An object per row length; its buffers are allocated once and overwritten by every call."""

import torch


class RMSNorm:
    __slots__ = ("squares", "means")

    def __init__(self, rows: int, width: int):
        self.squares = torch.empty(rows, width)
        self.means = torch.empty(rows, 1)

    def __call__(self, x, weight, y, eps):
        rows = x.shape[0]
        squares, means = self.squares[:rows], self.means[:rows]
        torch.mul(x, x, out=squares)
        torch.mean(squares, dim=-1, keepdim=True, out=means)
        means.add_(eps).rsqrt_()
        torch.mul(x, means, out=y)
        y.mul_(weight)


_layers: dict[int, RMSNorm] = {}
BLOCK = 32


def rmsnorm(x, weight, y, eps, M, N):
    if N == 0:
        return
    layer = _layers.get(N)
    if layer is None:
        layer = _layers[N] = RMSNorm(BLOCK, N)
    for i in range(0, M, BLOCK):
        layer(x[i : i + BLOCK], weight, y[i : i + BLOCK], eps)
