"""A perceptron with one hidden layer."""

import torch
from torch import nn


class Model(nn.Module):
    """Two linear layers with ReLU between."""

    def __init__(self, width, hidden, classes):
        super().__init__()
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, classes)

    def forward(self, x):
        """[M, width] to [M, classes]."""
        return self.fc2(torch.relu(self.fc1(x)))


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return [256, 384, 48]
