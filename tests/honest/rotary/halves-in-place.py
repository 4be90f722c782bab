import torch


def rotary(x, cos, sin, y, B, H, S, D):
    # plane by plane, everything written straight into the halves of y
    x1, x2 = x.flatten(0, 1).split(D // 2, dim=-1) if D > 1 else (x, x)
    y1, y2 = y.view(B * H, S, D).split(D // 2, dim=-1) if D > 1 else (y, y)
    for a, b, first, second in zip(x1, x2, y1, y2):
        torch.mul(a, cos, out=first)
        first.addcmul_(b, sin, value=-1)
        torch.mul(b, cos, out=second)
        second.addcmul_(a, sin)
