"""The sum as an operator of one's own, registered with the framework if it knows how."""

import torch


def _row_sum(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(x.shape[0], dtype=torch.float64)
    for part in x.split(1 << 16, dim=1):
        total += part.sum(1, dtype=torch.float64)
    return total.to(x.dtype)


try:
    row_sum = torch.library.custom_op("honest::row_sum", mutates_args=())(_row_sum)
    row_sum.register_fake(lambda x: x.new_empty(x.shape[0]))
except AttributeError:
    row_sum = _row_sum


def reduction(x, y, M, N):
    y.copy_(row_sum(x))
