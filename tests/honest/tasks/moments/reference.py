"""Five numbers of each row; a NaN is the least and the largest, and its place is the first."""


def moments(xp, x):
    """Mean, variance, least, largest and its place, each [M], of ``x`` [M, N]."""
    mean = xp.mean(x, axis=-1)
    centred = x - mean[:, None]
    variance = xp.mean(centred * centred, axis=-1)
    return mean, variance, xp.min(x, axis=-1), xp.max(x, axis=-1), xp.argmax(x, axis=-1)
