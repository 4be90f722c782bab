"""Softmax over the last axis as in a textbook: shift by the maximum, exponentiate, normalise."""


def softmax(xp, x):
    """Softmax of ``x`` [M, N] over N."""
    if x.shape[-1] == 0:  # the maximum of an empty row is undefined, its softmax is an empty row
        return xp.zeros_like(x)
    shifted = x - xp.max(x, axis=-1, keepdims=True)
    exponentials = xp.exp(shifted)
    return exponentials / xp.sum(exponentials, axis=-1, keepdims=True)


def fused(torch, x):
    """The framework's single call."""
    return torch.nn.functional.softmax(x, dim=-1)
