"""Normalization by hand with the layer's statistics, in the convolution's own result."""

from typing import Final

import torch
import torch.nn as nn
from torch import Tensor


class FrozenNorm(nn.BatchNorm2d):
    """BatchNorm2d that never trains: a multiply and an add by channel, in place."""

    @property
    def factor(self) -> Tensor:
        return self.weight * (self.running_var + self.eps).rsqrt()

    def forward(self, x: Tensor) -> Tensor:
        shape = (1, -1, 1, 1)
        factor = self.factor
        shift = torch.addcmul(self.bias, self.running_mean, factor, value=-1)
        return x.mul_(factor.view(shape)).add_(shift.view(shape))


class ModelNew(nn.Module):
    KERNEL: Final = 3

    def __init__(self, channels: int, outputs: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, outputs, self.KERNEL, padding=1, bias=False)
        self.norm = FrozenNorm(outputs)
        self.eval()

    @torch.inference_mode()
    def forward(self, x: Tensor) -> Tensor:
        out = self.conv(x)
        assert out.shape[1] == self.norm.num_features
        return torch.clamp_min_(self.norm(out), 0)
