"""GELU by its hyperbolic tangent."""


def bf16_gelu(xp, x, bias):
    """gelu(``x`` [M, N] + ``bias`` [N])."""
    z = x + bias
    return 0.5 * z * (1.0 + xp.tanh(0.7978845608028654 * (z + 0.044715 * z * z * z)))
