"""Feed-forward block with two scratch matrices that live as long as the module."""

import torch

_scratch = {}


def _buffers(rows, hidden):
    key = (rows, hidden)
    try:
        return _scratch[key]
    except KeyError:
        _scratch.clear()  # only the last shape is worth keeping
        _scratch[key] = torch.empty(rows, hidden), torch.empty(rows, hidden)
        return _scratch[key]


def swiglu(x, gate, up, down, y, M, D, F):
    g, u = _buffers(M, F)
    torch.mm(x, gate.t(), out=g)
    torch.mm(x, up.t(), out=u)
    torch.nn.functional.silu(g, inplace=True)
    g.mul_(u)
    torch.mm(g, down.T, out=y)
