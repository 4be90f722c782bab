"""numpy does the product in the very same memory."""

import numpy as np


def matmul(a, b, c, M, N, K):
    np.matmul(a.numpy(), b.numpy(), out=c.numpy())
