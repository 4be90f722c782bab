"""The transpose of a matrix, its rows scaled."""


def turned(xp, a, scale):
    """``a`` [M, N] as [N, M], row n times ``scale`` [N]."""
    return xp.matrix_transpose(a) * scale[:, None]
