"""Matrix-vector product."""


def matvec(xp, a, x):
    """Product [M] of ``a`` [M, K] and ``x`` [K]."""
    return xp.matmul(a, x)


def fused(torch, a, x):
    """The framework's single call."""
    return torch.mv(a, x)
