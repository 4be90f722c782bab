"""The chain as an autograd Function, with the backward that training would need."""

import torch
from torch import nn
from torch.autograd import Function

ROOT = 0.7978845608
CUBE = 0.044715


class Chain(Function):
    @staticmethod
    def forward(ctx, x, residual):
        t = torch.tanh(ROOT * (x + CUBE * x.pow(3)))
        summed = torch.addcmul(residual, x, t + 1, value=0.5)
        ctx.save_for_backward(x, t, summed)
        return summed.clamp(-2.0, 2.0)

    @staticmethod
    def backward(ctx, grad):
        x, t, summed = ctx.saved_tensors
        grad = grad * (summed.abs() <= 2.0)
        slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * ROOT * (1 + 3 * CUBE * x * x)
        return grad * slope, grad


class ModelNew(nn.Module):
    def forward(self, x, residual):
        return Chain.apply(x, residual)
