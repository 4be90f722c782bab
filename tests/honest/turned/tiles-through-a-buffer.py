import torch

TILE = 128
room = torch.empty(TILE, TILE)


def turned(a, scale, y, M, N):
    for i in range(0, M, TILE):
        for j in range(0, N, TILE):
            source = a[i : i + TILE, j : j + TILE]
            h, w = source.shape
            tile = room[:h, :w]
            tile.copy_(source).mul_(scale[j : j + TILE])
            y[j : j + TILE, i : i + TILE] = tile.T
