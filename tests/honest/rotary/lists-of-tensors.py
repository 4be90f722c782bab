"""All four products of the rotation by the framework's functions for lists of tensors."""

import torch


def rotary(x, cos, sin, y, B, H, S, D):
    half = D // 2
    a, b = x[..., :half], x[..., half:]
    shape = (B, H, S, half)
    c, s = cos.expand(shape), sin.expand(shape)
    ac, bs, bc, as_ = torch._foreach_mul([a, b, b, a], [c, s, c, s])
    torch._foreach_add_([ac, bc], [bs.neg_(), as_])
    torch.cat([ac, bc], dim=-1, out=y)
