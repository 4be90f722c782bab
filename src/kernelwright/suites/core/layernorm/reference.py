"""Layer normalization over the last axis with the biased variance, then weight and bias."""


def layernorm(xp, x, weight, bias, eps):
    """Normalise ``x`` [M, N] over N, scale by ``weight`` [N] and add ``bias`` [N]."""
    if x.shape[-1] == 0:  # the mean of an empty row is undefined, its normalization is an empty row
        return xp.zeros_like(x)
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    variance = xp.mean(centred * centred, axis=-1, keepdims=True)
    return centred / xp.sqrt(variance + eps) * weight + bias


def fused(torch, x, weight, bias, eps):
    """The framework's single call."""
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias, eps)
