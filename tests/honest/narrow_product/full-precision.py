"""The task allows bfloat16; using the full precision is allowed too."""

import torch


def narrow_product(a, b, c, M, N, K):
    c.copy_((b.mT @ a.mT).mT)
