"""The baseline of row_sum: torch's own call."""

import torch


def row_sum(x, y, rows, columns):
    torch.sum(x, dim=-1, out=y)
