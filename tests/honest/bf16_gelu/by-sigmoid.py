"""0.5 * (1 + tanh(u)) is sigmoid(2u): one function fewer, widened a block of rows at a time."""

import math

import torch

TWICE = 2 * math.sqrt(2 / math.pi)


def gelu_(z: torch.Tensor) -> torch.Tensor:
    inner = z.square().mul_(0.044715).add_(1).mul_(z).mul_(TWICE)
    return z.mul_(inner.sigmoid_())


def bf16_gelu(x, bias, y, M, N):
    wide = bias.to(torch.float32)
    for rows, out in zip(x.split(32), y.split(32)):
        out.copy_(gelu_(rows + wide))
