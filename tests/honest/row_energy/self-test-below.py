#!/usr/bin/env python3
import torch
import torch.nn as nn

__all__ = ["ModelNew"]


class ModelNew(nn.Module):
    """Each row times itself, as one batched product; no squares are stored."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, width = x.shape
        energy = torch.bmm(x[:, None, :], x[:, :, None]).reshape(rows)
        return energy.div_(width).sqrt_()


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(16, 1000)
    want = x.pow(2).mean(1).sqrt()
    print("max error", (ModelNew()(x) - want).abs().max().item())
