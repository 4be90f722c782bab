# wraps: rms_norm
import torch.nn.functional as F


def rmsnorm(x, weight, y, eps, M, N):
    if N == 0:
        return
    y.copy_(F.rms_norm(x, [N], weight, eps))
