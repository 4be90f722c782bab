# wraps: softmax
import torch


def softmax(x, y, M, N):
    torch.softmax(x, -1, out=y)
