"""The right answer of one output, and how far honest arithmetic is from it."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelwright.checks.distance import Array, measure, saturate, scales


@dataclass(frozen=True)
class Answer:
    """The float64 answer of one output and the error that honest evaluations make."""

    name: str
    truth: Array
    """float64, or the exact integers."""
    dtype: np.dtype[Any]
    scale_largest: float
    scale_rms: float
    e0_largest: float = 0.0
    e0_rms: float = 0.0
    honest_misplaced: int = 0
    """Elements at which an honest evaluation itself is not finite as the answer is."""
    whole: bool = False
    """Whole numbers whose every partial result is exact: honest evaluations are equal to them."""

    @property
    def exact(self) -> bool:
        """Whether the output is compared for equality."""
        return self.whole or self.dtype.kind in "iub"

    @property
    def reproduced(self) -> bool:
        """Whether every honest evaluation gave these very floats, and they are whole numbers.

        A mean may come of a running mean, which is honest and rounds where a sum does not.
        """
        off = (self.e0_largest, self.e0_rms, self.honest_misplaced)
        if self.dtype.kind in "iub" or any(off):
            return False
        return bool(np.isfinite(self.truth).all() and (self.truth == np.rint(self.truth)).all())


def make_answer(
    name: str, truth: Array, dtype: np.dtype[Any], honest: tuple[Array, ...] = ()
) -> Answer:
    """Scales and honest errors of one output.

    Args:
        name: the output's name.
        truth: the float64 evaluation, contiguous; changed in place: values beyond the range
            of ``dtype`` become what a conversion makes of them.
        dtype: the output's dtype.
        honest: native and serial evaluations of the same inputs.
    """
    if dtype.kind in "iub":
        return Answer(name, truth, dtype, 0.0, 0.0)
    truth = saturate(truth, dtype)
    largest, rms = scales(truth)
    errors = [measure(array, truth) for array in honest]
    return Answer(
        name,
        truth,
        dtype,
        scale_largest=largest,
        scale_rms=rms,
        e0_largest=max((e.largest for e in errors if math.isfinite(e.largest)), default=0.0),
        e0_rms=max((e.rms for e in errors if math.isfinite(e.rms)), default=0.0),
        honest_misplaced=max((e.misplaced for e in errors), default=0),
    )
