"""The normalization is folded into the convolution's weight, anew in each call."""

import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, channels, outputs):
        super().__init__()
        self.conv = nn.Conv2d(channels, outputs, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)
        self.train(False)

    def folded(self):
        norm = self.norm
        factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        return self.conv.weight * factor.view(-1, 1, 1, 1), norm.bias - norm.running_mean * factor

    def forward(self, x):
        weight, bias = self.folded()
        return nn.functional.conv2d(x, weight, bias, padding=self.conv.padding).relu_()
