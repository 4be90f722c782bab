"""Sum of squares as a batched product of each row with itself, no temporary of the input's size."""

import math

import torch


def rmsnorm(x, weight, y, eps, M, N):
    if M == 0 or N == 0:
        return
    energy = torch.bmm(x.view(M, 1, N), x.view(M, N, 1)).view(M, 1)
    inverse = energy.div_(N).add_(eps).sqrt_().reciprocal_()
    torch.mul(x, weight, out=y)
    y *= inverse
