"""Compare a candidate's output with the float64 answer.

The rule: with ``e0`` the larger error, against the float64 answer, of a native evaluation and of
a serial one in the accumulate type, a candidate's error may reach ``max(k * e0, 2 ulp of the
scale)``. It holds for the largest error (scale: the largest magnitude of the answer) and for the
root mean square (scale: the answer's own), and both must hold. NaN and infinities must agree by
kind and position. There is no share of elements that may be wrong.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelwright.checks.distance import (
    TILE,
    Array,
    Errors,
    as_double,
    measure,
    saturate,
    scales,
    ulp,
)
from kernelwright.checks.finding import Finding
from kernelwright.records.outcome import Outcome

ULPS = 2.0


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

    @property
    def exact(self) -> bool:
        """Whether the output is compared for equality."""
        return self.dtype.kind in "iub"


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


def judge(got: Array, answer: Answer, k: float, poison: int | None = None) -> Finding | None:
    """The reason to reject ``got``, or None.

    Args:
        got: the candidate's output, of the answer's shape and dtype.
        answer: the right one.
        k: how many times the honest error is allowed.
        poison: byte with which the output was filled before the call.
    """
    if got.shape != answer.truth.shape:
        return Finding(
            Outcome.WRONG_SHAPE,
            f"output {answer.name} has shape {got.shape}, expected {answer.truth.shape}",
        )
    if answer.exact:
        return _judge_exact(got, answer, poison)
    errors = measure(got, answer.truth)
    if errors.misplaced:
        return _judge_misplaced(got, answer, errors, poison)
    allowed = max(k * answer.e0_largest, ULPS * ulp(answer.scale_largest, answer.dtype))
    allowed_rms = max(k * answer.e0_rms, ULPS * ulp(answer.scale_rms, answer.dtype))
    if errors.largest <= allowed and errors.rms <= allowed_rms:
        return None
    where = _coordinates(errors.index, got.shape)
    evidence = {
        "output": answer.name,
        "largest_error": errors.largest,
        "allowed": allowed,
        "rms_error": errors.rms,
        "allowed_rms": allowed_rms,
        "at": where,
        "got": float(got[tuple(where)]) if where or not got.shape else None,
        "expected": float(answer.truth[tuple(where)]),
        "worst_tile": [errors.tile, min(errors.tile + TILE, got.size)],
        "worst_tile_rms": errors.tile_rms,
    }
    unwritten = _unwritten(got, poison, np.abs(as_double(got) - answer.truth) > allowed)
    if unwritten:
        evidence["never_written"] = unwritten
        reason = f"{unwritten} elements of output {answer.name} were never written"
        return Finding(Outcome.WRONG_VALUES, reason, evidence)
    ratio = errors.largest / allowed if errors.largest > allowed else errors.rms / allowed_rms
    reason = (
        f"output {answer.name} is off by {ratio:.3g} times what is allowed; largest error "
        f"{errors.largest:.3g} at {where}"
    )
    return Finding(Outcome.WRONG_VALUES, reason, evidence)


def _coordinates(index: int, shape: tuple[int, ...]) -> list[int]:
    return [int(i) for i in np.unravel_index(index, shape)] if shape else []


def _unwritten(got: Array, poison: int | None, wrong: Array) -> int:
    if poison is None:
        return 0
    raw = np.ascontiguousarray(got).view(np.uint8).reshape(*got.shape, got.dtype.itemsize)
    return int(((raw == poison).all(axis=-1) & wrong).sum())


def _judge_exact(got: Array, answer: Answer, poison: int | None) -> Finding | None:
    wrong = got != answer.truth
    count = int(wrong.sum())
    if not count:
        return None
    where = _coordinates(int(wrong.reshape(-1).argmax()), got.shape)
    evidence = {
        "output": answer.name,
        "wrong": count,
        "of": got.size,
        "at": where,
        "got": int(got[tuple(where)]),
        "expected": int(answer.truth[tuple(where)]),
        "never_written": _unwritten(got, poison, wrong),
    }
    reason = f"{count} of {got.size} elements of output {answer.name} are wrong, first at {where}"
    return Finding(Outcome.WRONG_VALUES, reason, evidence)


def _judge_misplaced(got: Array, answer: Answer, errors: Errors, poison: int | None) -> Finding:
    where = _coordinates(errors.first_misplaced, got.shape)
    value, right = float(got[tuple(where)]), float(answer.truth[tuple(where)])
    odd = ~np.isfinite(as_double(got))
    evidence = {
        "output": answer.name,
        "misplaced": errors.misplaced,
        "at": where,
        "got": repr(value),
        "expected": repr(right),
        "never_written": _unwritten(got, poison, odd),
    }
    if evidence["never_written"]:
        count = evidence["never_written"]
        reason = f"{count} elements of output {answer.name} were never written"
        return Finding(Outcome.WRONG_VALUES, reason, evidence)
    reason = f"output {answer.name} holds {value} at {where} where {right} is right"
    outcome = Outcome.NOT_FINITE if math.isfinite(right) else Outcome.WRONG_VALUES
    return Finding(outcome, reason, evidence)
