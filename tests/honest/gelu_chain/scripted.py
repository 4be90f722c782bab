"""The chain as one scripted function."""

import torch
from torch import nn


@torch.jit.script
def chain(x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    activated = 0.5 * x * (1.0 + torch.tanh(inner))
    return torch.clamp(activated + residual, min=-2.0, max=2.0)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, residual):
        return chain(x, residual)
