"""A convolution, then batch normalization with stored statistics, then ReLU."""

import torch
from torch import nn


class Model(nn.Module):
    """Convolution, normalization in eval mode, ReLU."""

    def __init__(self, channels, outputs):
        super().__init__()
        self.conv = nn.Conv2d(channels, outputs, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)
        self.eval()

    def forward(self, x):
        """[N, channels, H, W] to [N, outputs, H, W]."""
        return torch.relu(self.norm(self.conv(x)))


def get_inputs():
    return [torch.randn(4, 8, 20, 20)]


def get_init_inputs():
    return [8, 16]
