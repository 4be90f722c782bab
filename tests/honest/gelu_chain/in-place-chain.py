import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x, residual):
        t = torch.nn.functional.gelu(x, approximate="tanh")
        return t.add_(residual).clamp_(-2.0, 2.0)
