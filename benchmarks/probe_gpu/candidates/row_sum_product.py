"""A row sum as a product of a matrix with a vector of ones."""

import torch


def row_sum(x, y, M, N):
    torch.mv(x, torch.ones(N, device=x.device), out=y)
