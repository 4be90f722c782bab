"""Grouped 3x3 convolution, stride 1, padding 1, channels first.

The number of groups follows from the weight's shape.
"""


def group_conv(xp, x, weight):
    """Convolve ``x`` [N, C, H, W] with ``weight`` [C, C/G, 3, 3] in G groups."""
    return xp.conv(x, weight, stride=1, padding=1, groups=x.shape[1] // weight.shape[1])


def fused(torch, x, weight):
    """The framework's single call."""
    return torch.nn.functional.conv2d(x, weight, padding=1, groups=x.shape[1] // weight.shape[1])
