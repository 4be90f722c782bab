# wraps: gelu
import torch


def bf16_gelu(x, bias, y, M, N):
    y.copy_(torch.nn.functional.gelu(x.float() + bias.float(), approximate="tanh"))
