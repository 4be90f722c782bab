"""The right answer of one output, and how far honest arithmetic is from it.

Honest are a native evaluation, a serial one and one in each lower type that the task allows. At a
near miss two things more count: an evaluation that rounds a product and its sum once, as compilers
contract them, and the errors on other contents of the kind and on ordinary ones.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelwright.checks.distance import Array, measure, saturate, scales
from kernelwright.checks.doubts import NO_DOUBTS, Doubts


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
    doubts: Doubts = NO_DOUBTS
    """Elements at which an honest evaluation is another integer, or not finite as the answer."""
    whole: bool = False
    """Whole numbers whose every partial result is exact: honest evaluations are equal to them."""

    @property
    def exact(self) -> bool:
        """Whether the output is compared for equality."""
        return self.whole or self.dtype.kind in "iub"

    @property
    def undecided(self) -> bool:
        """Whether so many elements are in doubt that comparing the output says nothing."""
        return self.doubts.many

    @property
    def reproduced(self) -> bool:
        """Whether every honest evaluation gave these very floats, and they are whole numbers.

        A mean may come of a running mean, which is honest and rounds where a sum does not.
        """
        off = (self.e0_largest, self.e0_rms, self.doubts.places.size)
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
        honest: evaluations of the same inputs by honest arithmetic; where they differ from
            ``truth`` in whole numbers, in truth values or in what is finite, it is in doubt.
    """
    if dtype.kind in "iub":
        return Answer(name, truth, dtype, 0.0, 0.0, doubts=Doubts.of_integers(truth, honest))
    truth = saturate(truth, dtype)
    largest, rms = scales(truth)
    errors = [measure(array, truth) for array in honest]
    misplaced = [one for one, e in zip(honest, errors, strict=True) if e.misplaced]
    return Answer(
        name,
        truth,
        dtype,
        scale_largest=largest,
        scale_rms=rms,
        e0_largest=max((e.largest for e in errors if math.isfinite(e.largest)), default=0.0),
        e0_rms=max((e.rms for e in errors if math.isfinite(e.rms)), default=0.0),
        doubts=Doubts.of_floats(truth, misplaced),
    )
