"""Both moments from two sums, E[x^2] - E[x]^2, which is only safe in double precision."""

import torch

ROWS = 64


@torch.no_grad()
def layernorm(x, weight, bias, y, eps, M, N):
    if N == 0:
        return
    for i in range(0, M, ROWS):
        wide = x[i : i + ROWS].to(torch.float64)
        mean = wide.mean(dim=1, keepdim=True)
        var = (wide * wide).mean(dim=1, keepdim=True) - mean * mean
        scale = torch.rsqrt(var.clamp_min_(0.0) + eps)
        wide.sub_(mean).mul_(scale)
        y[i : i + ROWS] = wide * weight + bias
