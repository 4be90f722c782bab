"""Compare a candidate's output with the float64 answer.

The rule: with ``e0`` the largest error, against the float64 answer, of honest evaluations (a
native one, a serial one in the accumulate type, and one in each lower type that the task allows),
a candidate's error may reach ``max(k * e0, 2 ulp of the scale)``. It holds for the largest error
(scale: the largest magnitude of the answer) and for the root mean square (scale: the answer's
own), and both must hold. NaN and infinities must agree by kind and position. Integers, and floats
whose answer is exact, must be equal. There is no share of elements that may be wrong.

Whoever misses by little is heard again, and then ``e0`` counts one honest evaluation more, in
which a product and its sum with something are rounded once, as compilers contract them, and the
errors on other contents of the kind and on ordinary ones. Where honest evaluations themselves are
no equal integers, or not finite as the answer is, a few elements may be as any of them has it
(:mod:`~kernelwright.checks.doubts`).
"""

import math
from dataclasses import dataclass

import numpy as np

from kernelwright.checks import blame
from kernelwright.checks.answer import Answer
from kernelwright.checks.distance import TILE, Array, Errors, measure, ulp
from kernelwright.checks.finding import Finding
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Tolerance


@dataclass(frozen=True)
class Compared:
    """What a comparison says of one output."""

    finding: Finding | None
    """The reason to reject it, or None."""
    share: float = 0.0
    """The error as a share of what is allowed, the larger of both tests."""
    tile: tuple[int, int] = (0, 0)
    """Flat indices of the stretch with the largest mean square error."""
    misplaced: int = 0
    """Elements that are wrong whatever is allowed: unequal, or not finite as the answer is."""


def allowed(answer: Answer, tolerance: Tolerance) -> tuple[float, float]:
    """The largest and the root mean square error that an output may have."""
    largest, rms = (
        tolerance.ulps * ulp(scale, answer.dtype)
        for scale in (answer.scale_largest, answer.scale_rms)
    )
    return max(tolerance.k * answer.e0_largest, largest), max(tolerance.k * answer.e0_rms, rms)


def distance(got: Array, answer: Answer) -> Errors:
    """How far an output lies from the answer; of exact ones, how many elements are wrong."""
    got = answer.doubts.settled(got, answer.truth)
    if not answer.exact:
        return measure(got, answer.truth)
    wrong = np.flatnonzero(got != answer.truth)
    first = int(wrong[0]) if wrong.size else -1
    return Errors(0.0, 0.0, 0, 0, 0.0, misplaced=int(wrong.size), first_misplaced=first)


def share(errors: Errors, answer: Answer, tolerance: Tolerance) -> float:
    """An error as a share of what is allowed; infinite where no tolerance helps."""
    if errors.misplaced:
        return math.inf
    if answer.exact:
        return 0.0
    largest, rms = allowed(answer, tolerance)
    return max(errors.largest / largest, errors.rms / rms)


def judge(
    got: Array, answer: Answer, tolerance: Tolerance, poison: int | None = None
) -> Finding | None:
    """The reason to reject ``got``, or None; see :func:`compare`."""
    return compare(got, answer, tolerance, poison).finding


def compare(
    got: Array, answer: Answer, tolerance: Tolerance, poison: int | None = None
) -> Compared:
    """Compare one output: its shape first, then its values.

    Args:
        got: the candidate's output, of the answer's dtype.
        answer: the right one.
        tolerance: how many honest errors, or units in the last place, are allowed.
        poison: byte with which the output was filled before the call.
    """
    if got.shape != answer.truth.shape:
        reason = f"output {answer.name} has shape {got.shape}, expected {answer.truth.shape}"
        return Compared(Finding(Outcome.WRONG_SHAPE, reason))
    errors = distance(got, answer)
    off = share(errors, answer, tolerance)
    tile = (errors.tile, min(errors.tile + TILE, got.size))
    if off <= 1:
        return Compared(None, off, tile)
    if answer.exact:
        finding = blame.unequal(got, answer, errors, poison)
    elif errors.misplaced:
        finding = blame.misplaced(got, answer, errors, poison)
    else:
        finding = blame.too_far(got, answer, errors, allowed(answer, tolerance), poison)
    return Compared(finding, off, tile, errors.misplaced)
