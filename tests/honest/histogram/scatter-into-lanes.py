import torch

LANES = 16


def histogram(x, counts, N):
    """Each lane counts for itself, so that equal neighbours do not wait for each other."""
    lanes = torch.zeros(LANES * 256, dtype=torch.int32)
    places = torch.arange(N, dtype=torch.int64).remainder_(LANES).mul_(256).add_(x)
    lanes.scatter_add_(0, places, torch.ones(1, dtype=torch.int32).expand(N))
    torch.sum(lanes.view(LANES, 256), dim=0, dtype=torch.int32, out=counts)
