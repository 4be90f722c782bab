"""Why an output is rejected, in a sentence and with the evidence that lets a reader find it."""

import math
from typing import Any

import numpy as np

from kernelwright.checks.answer import Answer
from kernelwright.checks.distance import TILE, Array, Errors, as_double
from kernelwright.checks.finding import Finding
from kernelwright.records.outcome import Outcome


def too_far(
    got: Array,
    answer: Answer,
    errors: Errors,
    limits: tuple[float, float],
    poison: int | None,
) -> Finding:
    """An output that is further off than the ``limits`` of its largest and its rms error."""
    where = _coordinates(errors.index, got.shape)
    evidence = {
        "output": answer.name,
        "largest_error": errors.largest,
        "allowed": limits[0],
        "rms_error": errors.rms,
        "allowed_rms": limits[1],
        "at": where,
        "got": float(got[tuple(where)]),
        "expected": float(answer.truth[tuple(where)]),
        "worst_tile": [errors.tile, min(errors.tile + TILE, got.size)],
        "worst_tile_rms": errors.tile_rms,
    }
    with np.errstate(invalid="ignore"):
        far = np.abs(as_double(got) - answer.truth) > limits[0]
    unwritten = _unwritten(got, poison, far)
    if unwritten:
        evidence["never_written"] = unwritten
        reason = f"{unwritten} elements of output {answer.name} were never written"
        return Finding(Outcome.WRONG_VALUES, reason, evidence)
    ratio = max(errors.largest / limits[0], errors.rms / limits[1])
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


def unequal(got: Array, answer: Answer, errors: Errors, poison: int | None) -> Finding:
    """An output that had to be equal and is not."""
    where = _coordinates(errors.first_misplaced, got.shape)
    unwritten = _unwritten(got, poison, got != answer.truth)
    evidence = {
        "output": answer.name,
        "wrong": errors.misplaced,
        "of": got.size,
        "at": where,
        "got": _plain(got[tuple(where)], answer),
        "expected": _plain(answer.truth[tuple(where)], answer),
        "never_written": unwritten,
    }
    reason = (
        f"{errors.misplaced} of {got.size} elements of output {answer.name} are wrong, "
        f"first at {where}"
    )
    if answer.whole and not unwritten:
        reason += "; on these small integers every honest sum is exact"
    return Finding(Outcome.WRONG_VALUES, reason, evidence)


def _plain(value: Any, answer: Answer) -> float | int | str:
    if answer.dtype.kind in "iub":
        return int(value)
    number = float(value)
    return number if math.isfinite(number) else repr(number)


def misplaced(got: Array, answer: Answer, errors: Errors, poison: int | None) -> Finding:
    """An output with NaN or infinities where the answer has none, or the reverse."""
    where = _coordinates(errors.first_misplaced, got.shape)
    value, right = float(got[tuple(where)]), float(answer.truth[tuple(where)])
    odd = np.isfinite(as_double(got)) != np.isfinite(answer.truth)
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
