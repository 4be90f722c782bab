# wraps: layer_norm
import torch
import torch.nn.functional as F


def layernorm(x, weight, bias, y, eps, M, N):
    if N:
        y.copy_(F.layer_norm(x, (N,), weight, bias, eps))
