"""Torch operations one after another, in float32, without the fused call."""

import torch


def softmax(x, y, M, N):
    wide = x.float()
    wide -= wide.amax(-1, keepdim=True)
    wide.exp_()
    torch.div(wide, wide.sum(-1, keepdim=True), out=wide)
    y.copy_(wide)
