"""Matrix product."""


def narrow_product(xp, a, b):
    """Product [M, N] of ``a`` [M, K] and ``b`` [K, N]."""
    return xp.matmul(a, b)
