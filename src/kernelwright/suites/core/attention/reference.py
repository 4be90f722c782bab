"""Scaled dot-product attention written out: scores, causal mask, softmax, weighted values."""


def attention(xp, q, k, v, causal):
    """Attention [B, H, S, D] of ``q``, ``k``, ``v`` [B, H, S, D], scale 1/sqrt(D).

    ``causal`` hides later keys.
    """
    if (
        q.shape[-2] == 0
    ):  # the maximum of an empty row of scores is undefined, the result has no rows
        return xp.zeros_like(q)
    scores = xp.matmul(q, xp.matrix_transpose(k)) * q.shape[-1] ** -0.5
    if causal:
        visible = xp.tril(xp.ones_like(scores)) > 0
        scores = xp.where(visible, scores, xp.full_like(scores, -float("inf")))
    exponentials = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    weights = exponentials / xp.sum(exponentials, axis=-1, keepdims=True)
    return xp.matmul(weights, v)


def fused(torch, q, k, v, causal):
    """The framework's single call."""
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=bool(causal))
