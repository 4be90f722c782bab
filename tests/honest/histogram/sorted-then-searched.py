import torch

# every number's last place in the sorted data; differences of these are the counts
EDGES = torch.arange(256, dtype=torch.int32)


def histogram(x, counts, N):
    ordered = x.sort().values
    upto = torch.searchsorted(ordered, EDGES, right=True, out_int32=True)
    counts[0] = upto[0]
    torch.sub(upto[1:], upto[:-1], out=counts[1:])
