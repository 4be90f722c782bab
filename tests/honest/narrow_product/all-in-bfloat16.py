"""Factors and result in bfloat16, which the task allows; the product is the framework's."""

import torch


def narrow_product(a, b, c, M, N, K):
    with torch.no_grad():
        narrow = torch.mm(a.to(torch.bfloat16), b.to(torch.bfloat16))
    c.copy_(narrow)
