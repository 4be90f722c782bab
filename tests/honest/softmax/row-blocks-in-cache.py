# /// kernelwright
# strategy = "three passes over a block of rows that stays in the cache, all in the output's memory"
# tune.KIB = [512, 2048]
# ///
"""Row softmax, a block of rows at a time."""

import torch


def softmax(x, y, M, N, *, KIB):
    if y.numel() == 0:
        return
    rows = max(1, (KIB << 10) // (4 * N))
    for block, out in zip(x.split(rows), y.split(rows)):
        torch.sub(block, block.amax(dim=1, keepdim=True), out=out)
        out.exp_()
        out.div_(out.sum(dim=1, keepdim=True))
