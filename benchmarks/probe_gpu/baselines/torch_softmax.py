"""The baseline of softmax: torch's own call."""

import torch


def softmax(x, y, rows, columns):
    torch.softmax(x, dim=-1, out=y)
