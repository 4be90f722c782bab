"""Occurrences of the numbers 0 to 255."""

import numpy as np


def histogram(x):
    """Counts [256] of ``x`` [N]."""
    return np.bincount(x, minlength=256).astype(np.int32)
