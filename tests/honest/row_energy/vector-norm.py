import torch
from torch import nn


class ModelNew(nn.Module):
    """The root of a mean of squares is the length over the root of the count."""

    def forward(self, x):
        return torch.linalg.vector_norm(x, dim=1) / x.shape[1] ** 0.5
