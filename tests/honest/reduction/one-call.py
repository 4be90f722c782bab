# wraps: sum
import torch


def reduction(x, y, M, N):
    torch.sum(x, dim=1, out=y)
