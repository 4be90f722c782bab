"""Horner's rule on a block of elements that stays in cache, each step one operator."""

import torch

BLOCK = 8192


def long_polynomial(x, y, N):
    for part, out in zip(x.split(BLOCK), y.split(BLOCK)):
        total = part * 0.5 + 0.25
        for k in range(96):
            torch.mul(total, part, out=total)
            total += 0.1 + 0.001 * k
        out.copy_(total)
