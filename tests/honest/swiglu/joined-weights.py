"""Gate and up in one product: both weights side by side, then chunk(2)."""

import torch
import torch.nn.functional as F_


def swiglu(x, gate, up, down, y, M, D, F):
    both = F_.linear(x, torch.cat((gate, up), dim=0))
    g, u = both.chunk(2, dim=-1)
    hidden = g * torch.sigmoid(g) * u
    y.copy_(F_.linear(hidden, down))
