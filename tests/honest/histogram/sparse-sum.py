import torch


def histogram(x, counts, N):
    """Equal coordinates of a sparse tensor are added up when it is made dense."""
    ones = torch.ones(N, dtype=torch.int32)
    sparse = torch.sparse_coo_tensor(x.long().unsqueeze(0), ones, (256,))
    counts.copy_(sparse.to_dense())
