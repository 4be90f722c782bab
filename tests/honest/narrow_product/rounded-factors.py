import torch


def narrow_product(a, b, c, M, N, K):
    # both factors lose their low bits, as the task allows; sums are float32
    torch.mm(a.bfloat16().float(), b.bfloat16().float(), out=c)
