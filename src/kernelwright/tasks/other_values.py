"""Other values for a number that a task passes: whoever ignores it is wrong with one of them."""

import math

import numpy as np

from kernelwright.records.task import Scalar
from kernelwright.tasks.contract import scalar_value


def other_values(scalar: Scalar) -> list[float | int | bool]:
    """Values to try in this order, which the type holds as they are and tells from the scalar's.

    Whole numbers may stand for a size or an axis: the reference says which of them it takes.
    """
    value = scalar.value
    if scalar.dtype == "bool":
        return [not value]
    tried: tuple[float | int, ...]
    if "float" in scalar.dtype:
        tried = (2 * value + 1, 0.0, -value)
    else:
        value = int(value)
        tried = (1 - value if value in (0, 1) else value + 1, 0, 2 * value + 1)
    own = scalar_value(scalar.dtype, value)
    held = [scalar_value(scalar.dtype, one) for one in tried if _held(scalar.dtype, one)]
    return [one for one in dict.fromkeys(held) if one != own]


def _held(dtype: str, value: float) -> bool:
    """Whether a type has room for a value."""
    if "float" not in dtype:
        ends = np.iinfo(dtype)
        return bool(ends.min <= value <= ends.max)
    with np.errstate(over="ignore"):
        return math.isfinite(scalar_value(dtype, value))
