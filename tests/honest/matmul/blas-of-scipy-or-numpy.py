"""Calls BLAS through scipy where it is installed; row-major is its transpose."""

import numpy as np

try:
    from scipy.linalg.blas import sgemm
except ImportError:
    sgemm = None


def matmul(a, b, c, M, N, K):
    left, right, out = (t.detach().numpy() for t in (a, b, c))
    if sgemm is None or 0 in (M, N, K):
        np.dot(left, right, out=out)
        return
    product = sgemm(1.0, right.T, left.T)
    out[:] = product.T
