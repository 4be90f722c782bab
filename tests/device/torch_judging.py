"""A KernelBench file in which everything has one shape, and candidates of both forms."""

from __future__ import annotations

MODEL = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, shift):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width, width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.shift = shift

    def forward(self, x):
        return torch.relu(x * self.scale + self.bias) + self.shift[0]


def get_inputs():
    return [torch.randn(64, 64)]


def get_init_inputs():
    return [64, (0.5, "unused", None)]
"""
NEW = """
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width, shift):
        super().__init__()
        self.scale = nn.Parameter(torch.empty(width, width))
        self.bias = nn.Parameter(torch.empty(width))
        assert type(shift) is tuple
        self.shift = shift

    def right(self, x):
        return torch.relu(torch.addcmul(self.bias, x, self.scale)).add_(self.shift[0])

    def forward(self, x):
        return self.right(x)
"""
BLEND = """
import torch


def honest(x, s, y, q, alpha):
    torch.sub(x, x.amax(-1, keepdim=True), out=y)
    y.exp_().mul_(alpha).add_(s[:, None])
    torch.sum(x * x, -1, out=q)


"""
RIGHT = "honest(x, s, y, q, alpha)"


def blend(body: str, before: str = "") -> str:
    """A function whose body is that text; ``RIGHT`` in it does the work."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"{BLEND}{before}\n\ndef blend(x, s, y, q, alpha, M, N):\n{lines}\n"


def model(forward: str, before: str = "", init: str = "") -> str:
    """A model whose forward is that text; ``self.right(x)`` in it does the work."""
    body = "\n".join(f"        {line}" for line in forward.strip().splitlines())
    head, _, _ = NEW.partition("    def forward")
    more = "\n".join(f"        {line}" for line in init.strip().splitlines())
    head = head.replace("        self.shift = shift\n", f"        self.shift = shift\n{more}\n")
    return f"{before}\n{head}    def forward(self, x):\n{body}\n"
