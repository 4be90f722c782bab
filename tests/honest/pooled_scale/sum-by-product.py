import torch
from torch import nn


class ModelNew(nn.Module):
    """The mean over the middle axis is a product with a row of ones, kept by its length."""

    def __init__(self):
        super().__init__()
        self.ones = {}

    def forward(self, x, scale, mode):
        length = x.shape[1]
        if mode != "mean":
            return torch.sigmoid(x.max(dim=1)[0] * scale)
        if length not in self.ones:
            self.ones[length] = torch.ones(1, 1, length)
        pooled = torch.matmul(self.ones[length], x).squeeze(1)
        return pooled.mul_(scale / length).sigmoid_()
