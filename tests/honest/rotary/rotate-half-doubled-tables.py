"""The form of most model code: x * cos + rotate_half(x) * sin with doubled tables."""

import torch


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def rotary(x, cos, sin, y, B, H, S, D):
    cos, sin = (torch.cat((table, table), dim=-1) for table in (cos, sin))
    torch.add(x * cos, rotate_half(x) * sin, out=y)
