"""Attention in tiles with an online softmax, after the well-known paper, without its kernel."""

import math
from typing import NamedTuple

import torch


class Tile(NamedTuple):
    rows: int = 64
    columns: int = 128


TILE = Tile()


def attention(q, k, v, o, causal, B, H, S, D):
    scale = 1.0 / math.sqrt(D)
    for q0 in range(0, S, TILE.rows):
        q1 = min(S, q0 + TILE.rows)
        query = q[:, :, q0:q1] * scale
        best = query.new_full((B, H, q1 - q0, 1), float("-inf"))
        norm = torch.zeros_like(best)
        acc = torch.zeros_like(query)
        last = q1 if causal else S
        for k0 in range(0, last, TILE.columns):
            k1 = min(last, k0 + TILE.columns)
            scores = query @ k[:, :, k0:k1].transpose(-1, -2)
            if causal and k1 > q0 + 1:
                later = torch.arange(k0, k1)[None, :] > torch.arange(q0, q1)[:, None]
                scores.masked_fill_(later, float("-inf"))
            new = torch.maximum(best, scores.amax(-1, keepdim=True))
            scores.sub_(new).exp_()
            correction = (best - new).exp_()
            norm.mul_(correction).add_(scores.sum(-1, keepdim=True))
            acc.mul_(correction).add_(scores @ v[:, :, k0:k1])
            best = new
        torch.div(acc, norm, out=o[:, :, q0:q1])
