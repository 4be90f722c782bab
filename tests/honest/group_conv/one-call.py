# wraps: conv2d
import torch


def group_conv(x, weight, y, N, C, H, W, G):
    if y.numel():
        y.copy_(torch.conv2d(x, weight, padding=1, groups=G))
