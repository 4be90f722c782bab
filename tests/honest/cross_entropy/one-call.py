# wraps: cross_entropy
import torch.nn.functional as F


def cross_entropy(logits, labels, loss, N, V):
    loss.copy_(F.cross_entropy(logits, labels, reduction="none"))
