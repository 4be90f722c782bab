# wraps: bincount
import torch


def histogram(x, counts, N):
    counts.copy_(torch.bincount(x, minlength=256))
