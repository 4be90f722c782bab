"""The vocabulary goes by in slices; slices of a size are computed once and remembered."""

from functools import lru_cache

import torch


@lru_cache(maxsize=32)
def slices(size: int, step: int) -> tuple:
    return tuple(slice(i, min(i + step, size)) for i in range(0, size, step))


def cross_entropy(logits, labels, loss, N, V):
    if N == 0:
        return
    with torch.inference_mode():
        running_max = torch.full((N,), -torch.inf)
        for columns in slices(V, 4096):
            torch.maximum(running_max, logits[:, columns].amax(1), out=running_max)
        total = torch.zeros(N, dtype=torch.float64)
        for columns in slices(V, 4096):
            total += torch.exp(logits[:, columns] - running_max[:, None]).sum(1)
        rows = torch.arange(N)
        loss[:] = torch.log(total) - (logits[rows, labels] - running_max)
