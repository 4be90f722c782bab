"""var_mean was given `correction` late; older releases know `unbiased` only."""

import functools
import warnings

import torch


@functools.lru_cache(maxsize=None)
def keywords():
    probe = torch.zeros(2, 2)
    try:
        torch.var_mean(probe, dim=-1, correction=0)
    except TypeError:
        warnings.warn("old torch: using unbiased=False")
        return (("unbiased", False),)
    return (("correction", 0),)


def layernorm(x, weight, bias, y, eps, M, N):
    if x.numel() == 0:
        return None
    var, mean = torch.var_mean(x, dim=-1, keepdim=True, **dict(keywords()))
    var.add_(eps).rsqrt_()
    torch.sub(x, mean, out=y)
    y.mul_(var).mul_(weight).add_(bias)
