"""A polynomial of high degree, whose terms die out slowly."""


def long_polynomial(xp, x):
    """The sum of (0.1 + 0.001 (95 - j)) x^j for j < 96, and 0.25 x^96 + 0.5 x^97; ``x`` [N]."""
    y = 0.5 * x + 0.25
    for k in range(96):
        y = y * x + (0.1 + 0.001 * k)
    return y
