"""Nine shifted products over a padded copy that is kept between calls (its border stays zero)."""

import itertools

import torch

_padded = {}


def padded(x):
    shape = tuple(x.shape)
    if shape not in _padded:
        n, c, h, w = shape
        _padded[shape] = x.new_zeros(n, c, h + 2, w + 2)
    room = _padded[shape]
    room[:, :, 1:-1, 1:-1].copy_(x)
    return room


def group_conv(x, weight, y, N, C, H, W, G):
    if y.numel() == 0:
        return
    room = padded(x).view(N, G, C // G, H + 2, W + 2)
    kernels = weight.view(G, C // G, C // G, 3, 3)
    total = None
    for i, j in itertools.product(range(3), repeat=2):
        tap = torch.einsum("goc,ngchw->ngohw", kernels[..., i, j], room[..., i : i + H, j : j + W])
        total = tap if total is None else total.add_(tap)
    y.copy_(total.reshape(y.shape))
