"""Rotary position embedding in the "rotate halves" layout.

Element d is paired with element d + D/2, not with its neighbour.
"""


def rotary(xp, x, cos, sin):
    """Rotate the pairs (d, d + D/2) of ``x`` [B, H, S, D].

    The angles' cosines ``cos`` and sines ``sin`` are [S, D/2].
    """
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return xp.concat([first * cos - second * sin, second * cos + first * sin], axis=-1)
