"""Cross-entropy of each row: log of the sum of exponentials minus the label's logit.

No mean is taken over the rows.
"""


def cross_entropy(xp, logits, labels):
    """Loss [N] of ``logits`` [N, V] and integer ``labels`` [N] in [0, V)."""
    largest = xp.max(logits, axis=-1, keepdims=True)
    shifted = logits - largest
    log_sum = xp.log(xp.sum(xp.exp(shifted), axis=-1))
    return log_sum - xp.take_along_axis(shifted, labels[:, None], axis=-1)[:, 0]


def fused(torch, logits, labels):
    """The framework's single call."""
    return torch.nn.functional.cross_entropy(logits, labels, reduction="none")
