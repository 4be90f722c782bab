# /// kernelwright
# strategy = "a slice of the hidden units at a time, added onto the result"
# tune.SLICE = [344, 688]
# ///
import torch


def swiglu(x, gate, up, down, y, M, D, F, *, SLICE):
    y.zero_()
    for f in range(0, F, SLICE):
        part = slice(f, f + SLICE)
        hidden = x @ gate[part].t()
        # z * sigmoid(z), written with exp as in the paper
        hidden /= 1 + torch.exp(-hidden)
        hidden *= x @ up[part].t()
        y.addmm_(hidden, down[:, part].t())
