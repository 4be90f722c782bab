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

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from kernelwright.checks.finding import Finding
from kernelwright.records.outcome import Outcome

Array = NDArray[Any]
CHUNK = 1 << 15
"""Elements compared at a time: the work stays in the second-level cache."""
TILE = 1 << 12
ULPS = 2.0


@dataclass(frozen=True)
class Errors:
    """Distance of one array from the float64 answer."""

    largest: float
    rms: float
    index: int
    """Flat index of the largest error."""
    tile: int
    """First flat index of the stretch of 4096 elements with the largest mean square error."""
    tile_rms: float
    misplaced: int
    """Elements whose NaN or infinity differs in kind or position from the answer's."""
    first_misplaced: int = -1


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
    truth = _saturate(truth, dtype)
    largest, rms = _scales(truth)
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
    unwritten = _unwritten(got, poison, np.abs(_double(got) - answer.truth) > allowed)
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


def measure(got: Array, truth: Array) -> Errors:
    """Distance of ``got`` from ``truth`` (float64), over the finite elements of both."""
    flat, right = np.ascontiguousarray(got).reshape(-1), np.ascontiguousarray(truth).reshape(-1)
    index = tile = 0
    largest, total, tile_rms, misplaced, first = 0.0, 0.0, 0.0, 0, -1
    for start in range(0, flat.size, CHUNK):
        expected = right[start : start + CHUNK]
        with np.errstate(invalid="ignore", over="ignore"):
            error = np.abs(_double(flat[start : start + CHUNK]) - expected)
        top = int(error.argmax())
        if not np.isfinite(error[top]):
            error, wrong = _special(flat[start : start + CHUNK], expected, error)
            if wrong.size and first < 0:
                first = start + int(wrong[0])
            misplaced += int(wrong.size)
            top = int(error.argmax())
        if error[top] > largest:
            largest, index = float(error[top]), start + top
        for offset in range(0, error.size, TILE):
            part = error[offset : offset + TILE]
            square = float(part @ part)
            total += square
            mean = math.sqrt(square / part.size)
            if mean > tile_rms:
                tile_rms, tile = mean, start + offset
    rms = math.sqrt(total / flat.size) if flat.size else 0.0
    return Errors(largest, rms, index, tile, tile_rms, misplaced, first)


def ulp(scale: float, dtype: np.dtype[Any]) -> float:
    """Spacing of ``dtype`` at ``scale``; the smallest positive number at zero."""
    info = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    tiny = float(info.smallest_subnormal)
    if scale <= 0 or not math.isfinite(scale):
        return tiny
    return max(float(info.eps) * 2.0 ** math.floor(math.log2(scale)), tiny)


def _double(values: Array) -> Array:
    return values.astype(np.float64)


def _special(values: Array, expected: Array, error: Array) -> tuple[Array, Array]:
    """Errors with non-finite places zeroed, and the indices where their kinds differ."""
    got = _double(values)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    odd = ~np.isfinite(got) | ~np.isfinite(expected)
    return np.where(odd, 0.0, error), np.flatnonzero(odd & ~same)


def _saturate(truth: Array, dtype: np.dtype[Any]) -> Array:
    limit = float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
    flat = truth.reshape(-1)
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, flat.size, CHUNK):
            part = flat[start : start + CHUNK]
            beyond = np.abs(part) > limit
            if beyond.any():
                part[beyond] = part[beyond].astype(dtype).astype(np.float64)
    return truth


def _scales(truth: Array) -> tuple[float, float]:
    """Largest magnitude and root mean square of the finite elements."""
    largest, total, count = 0.0, 0.0, 0
    flat = truth.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        part = flat[start : start + CHUNK]
        top = float(np.abs(part).max())
        if not math.isfinite(top):
            part = part[np.isfinite(part)]
            top = float(np.abs(part).max()) if part.size else 0.0
        count += part.size
        if top > largest:
            total *= (largest / top) ** 2
            largest = top
        if largest > 0:
            scaled = part / largest
            total += float(scaled @ scaled)
    return largest, largest * math.sqrt(total / count) if count else 0.0


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
    odd = ~np.isfinite(_double(got))
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
