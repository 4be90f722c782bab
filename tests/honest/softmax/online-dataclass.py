"""Online softmax: one pass keeps the running maximum and the rescaled sum, a second one writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

import torch
from torch import Tensor


@dataclass
class Running:
    """What is known of each row after the columns seen so far."""

    largest: Tensor
    total: Tensor

    @classmethod
    def start(cls, columns: Tensor) -> Running:
        largest = columns.max(dim=-1, keepdim=True).values
        return cls(largest, (columns - largest).exp_().sum(dim=-1, keepdim=True))

    def merge(self, columns: Tensor) -> None:
        other = Running.start(columns)
        largest = torch.maximum(self.largest, other.largest)
        self.total.mul_(torch.exp(self.largest - largest))
        self.total.add_(other.total.mul_(torch.exp(other.largest - largest)))
        self.largest = largest


def pieces(x: Tensor, width: int = 1024) -> Iterator[Tensor]:
    for first in range(0, x.shape[-1], width):
        yield x[..., first : first + width]


def softmax(x: Tensor, y: Tensor, M: int, N: int) -> None:
    if M == 0 or N == 0:
        return
    blocks = pieces(x)
    running = Running.start(next(blocks))
    for block in blocks:
        running.merge(block)
    torch.sub(x, running.largest, out=y)
    torch.exp_(y)
    y /= running.total
