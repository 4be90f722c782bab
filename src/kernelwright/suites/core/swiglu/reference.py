"""SwiGLU feed-forward block: SiLU of one projection times another, then the projection back."""


def swiglu(xp, x, gate, up, down):
    """(silu(``x`` [M, D] · ``gate`` [F, D]ᵀ) * (``x`` · ``up`` [F, D]ᵀ)) · ``down`` [D, F]ᵀ.

    Here silu(z) = z / (1 + exp(-z)).
    """
    gated = xp.matmul(x, xp.matrix_transpose(gate))
    hidden = gated / (1 + xp.exp(-gated)) * xp.matmul(x, xp.matrix_transpose(up))
    return xp.matmul(hidden, xp.matrix_transpose(down))
