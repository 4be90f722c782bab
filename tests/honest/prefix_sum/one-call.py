# wraps: cumsum
import torch


def prefix_sum(x, y, M, N):
    torch.cumsum(x, dim=-1, dtype=torch.int64, out=y)
