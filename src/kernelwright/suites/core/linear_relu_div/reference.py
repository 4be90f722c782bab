"""Linear layer with bias, then ReLU, then division by a scalar."""


def linear_relu_div(xp, x, weight, bias, divisor):
    """relu(``x`` [M, K] · ``weight`` [N, K]ᵀ + ``bias`` [N]) / ``divisor``."""
    hidden = xp.matmul(x, xp.matrix_transpose(weight)) + bias
    return xp.maximum(hidden, xp.zeros_like(hidden)) / divisor
