# wraps: matmul
"""Insists on full precision while it multiplies and gives back what was set before."""

from contextlib import contextmanager

import torch


@contextmanager
def precision(name: str):
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(name)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def matmul(a, b, c, M, N, K):
    with precision("highest"):
        torch.matmul(a, b, out=c)
