"""The two halves as real and imaginary part: a rotation is one complex product."""

import torch


def rotary(x, cos, sin, y, B, H, S, D):
    half = D // 2
    angles = torch.complex(cos, sin)
    turned = torch.complex(x[..., :half], x[..., half:]) * angles
    y[..., :half] = turned.real
    y[..., half:] = turned.imag
