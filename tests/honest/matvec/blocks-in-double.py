"""float64 accumulation, a block of rows at a time so that the wide copy stays small."""

import torch


def matvec(a, x, y, M, K):
    wide = x.double()
    block = max(1, 262144 // max(K, 1))
    for i in range(0, M, block):
        y[i : i + block] = a[i : i + block].double() @ wide
