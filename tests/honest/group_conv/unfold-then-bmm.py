import torch
import torch.nn.functional as F


def group_conv(x, weight, y, N, C, H, W, G):
    """im2col and a batched product; groups become part of the batch."""
    if y.numel() == 0:
        return
    per = C // G
    columns = F.unfold(x, 3, padding=1)  # N, C * 9, H * W
    columns = columns.view(N, G, per * 9, H * W)
    kernels = weight.view(G, per, per * 9)
    torch.matmul(kernels, columns, out=y.view(N, G, per, H * W))
