"""Values as a narrower type would hold them: the mantissa shortened, the range kept.

Ranges are left alone on purpose: a type that is allowed for its precision is no excuse for an
overflow.
"""

import numpy as np

from kernelwright.checks.distance import Array

BITS = {
    "float64": 52, "float32": 23, "tf32": 10, "float16": 10, "bfloat16": 7,
    "float8_e4m3fn": 3, "float8_e5m2": 2,
}  # fmt: skip
"""Stored bits of the mantissa."""
NEXT_LOWER = {"float64": 23, "float32": 10, "tf32": 7, "float16": 3, "bfloat16": 3}
"""Bits of the next type down: float32, tf32, bfloat16, float8."""


def rounded(values: Array, bits: int) -> Array:
    """Float values rounded to ``bits`` bits of mantissa, ties to even, in their own type."""
    wide = values.astype(np.float64)
    with np.errstate(invalid="ignore"):
        mantissa, exponent = np.frexp(wide)
        shortened = np.ldexp(np.rint(mantissa * 2.0 ** (bits + 1)), exponent - bits - 1)
    return np.where(np.isfinite(wide), shortened, wide).astype(values.dtype)


def furthest(values: Array, bits: int) -> Array:
    """Float64 values moved as far as rounding to ``bits`` bits of mantissa could move them."""
    exponent = np.frexp(values)[1]
    step = np.ldexp(np.sign(values), exponent - bits - 2)
    return np.where(np.isfinite(values), values + step, values)


def lower_bits(dtype: str, precision: tuple[str, ...]) -> int | None:
    """Bits of the type below the lowest in which an output of ``dtype`` may be computed.

    Args:
        dtype: of the output.
        precision: lower types that the task allows.

    Returns:
        None where there is no lower type.
    """
    allowed = [name for name in (dtype, *precision) if name in BITS]
    if dtype not in BITS:
        return None
    return NEXT_LOWER.get(min(allowed, key=BITS.__getitem__))
