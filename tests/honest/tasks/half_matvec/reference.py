"""Matrix-vector product."""


def half_matvec(xp, a, x):
    """Product [M] of ``a`` [M, K] and ``x`` [K]."""
    return xp.matmul(a, x)
