"""Wrong answers made from right ones: what a lazy or a lucky kernel would hand in.

Each stands in for one output. Whether it really is wrong is decided on the float64 answer itself,
never by the tolerance that is being examined: the mean *is* the answer of some tasks, and a copy
passes its input through.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from kernelwright.checks.answer import Answer
from kernelwright.checks.distance import Array
from kernelwright.checks.rounding import furthest, rounded

EXACT = 2.0**-40
"""Difference, as a share of the scale, that is the float64 evaluation's own rounding."""
FEW_ELEMENTS = 64
"""Fewer elements than this, and chance decides whether rounding shows."""
TILES = 64
LOOKED_AT = 4096

OF_OUTPUTS = {
    "zeros": "every element 0",
    "mean": "every element the mean of the output",
    "pass_through": "an input of the same shape and type, as it is",
    "rows_permuted": "the right rows in another order",
    "columns_permuted": "the right elements of each row in another order",
    "last_tile": "the last 64th of the elements 0",
    "last_row": "the last row 0",
    "rounded": "the answer rounded to the next type below the lowest that the task allows",
    "another_seed": "the right answer for inputs of another seed, ten tolerances away or more",
}
OF_INPUTS = {
    "perturbed": "the inputs with this one drawn anew; for a scalar, with another value",
    "pattern": "this input beyond the few elements that ever differ between seeds",
}
OF_ITSELF = {
    "twice_the_tolerance": "the answer, one element off by twice what is allowed",
    "half_the_tolerance": "the answer, one element off by half of what is allowed: must pass",
    "undecided": "honest evaluations, where they and the answer part at more than one element in a "
    "hundred: other integers, or not finite alike",
}


def stand_ins(
    answer: Answer, contents: Mapping[str, Array], bits: int | None, random: np.random.Generator
) -> Iterator[tuple[str, str, Array]]:
    """Name, note and values of every control that can stand in for one output.

    Args:
        answer: the right one; not empty.
        contents: the inputs it belongs to.
        bits: of the mantissa of the next lower type; None where there is none.
        random: draws the orders.
    """
    truth = answer.truth
    yield "zeros", "", np.zeros_like(truth)
    yield "mean", "", np.full_like(truth, _mean(answer))
    for name, array in contents.items():
        if array.shape == truth.shape and array.dtype == answer.dtype:
            yield "pass_through", name, array
    if truth.ndim and truth.shape[0] > 1:
        yield "rows_permuted", "", truth[_order(truth.shape[0], random)]
    if truth.ndim > 1 and truth.shape[-1] > 1:
        yield "columns_permuted", "", truth[..., _order(truth.shape[-1], random)]
    if truth.size > 1:
        blank = truth.copy()
        blank.reshape(-1)[-math.ceil(truth.size / TILES) :] = 0
        yield "last_tile", "", blank
    if truth.ndim > 1 and truth.shape[0] > 1:
        blank = truth.copy()
        blank[-1] = 0
        yield "last_row", "", blank
    if bits is not None:
        few = truth.size < FEW_ELEMENTS
        yield "rounded", f"to {bits} bits", furthest(truth, bits) if few else rounded(truth, bits)


def is_right(values: Array, answer: Answer) -> bool:
    """Whether ``values`` are the answer, in exact arithmetic as far as float64 can tell."""
    truth = answer.truth
    if answer.dtype.kind in "iub":
        return bool(np.array_equal(values, truth))
    step = max(1, truth.size // LOOKED_AT)
    if step > 1 and not _alike(values.reshape(-1)[::step], truth.reshape(-1)[::step], answer):
        return False  # most wrong ones show wherever one looks
    return _alike(values, truth, answer)


def _alike(values: Array, truth: Array, answer: Answer) -> bool:
    wide = values.astype(np.float64)
    finite = np.isfinite(truth)
    if not np.array_equal(wide[~finite], truth[~finite], equal_nan=True):
        return False
    scale = answer.scale_largest
    with np.errstate(invalid="ignore"):
        return bool((np.abs(wide[finite] - truth[finite]) <= EXACT * scale).all())


def moved(answer: Answer, by: float) -> Array | None:
    """The answer with its smallest finite element moved that is not in doubt; None without one."""
    size = np.where(np.isfinite(answer.truth), np.abs(answer.truth), np.inf)
    size.reshape(-1)[answer.doubts.places] = np.inf
    place = np.unravel_index(int(size.argmin()), size.shape) if size.shape else ()
    if not np.isfinite(size[place]):
        return None
    found = answer.truth.copy()
    found[place] += by
    return found


def fixed_share(first: Array, second: Array, third: Array) -> float:
    """The share of an input's elements that hold the same value under every seed.

    Sparse inputs whose pattern moves have none: what differs from the third draw lies elsewhere
    than what differs from the second.
    """
    here, there = first != second, first != third
    elsewhere = int((there & ~here).sum())
    if elsewhere * 20 > int(there.sum()):
        return 0.0
    return 1.0 - int((here | there).sum()) / max(first.size, 1)


def _mean(answer: Answer) -> float | bool:
    finite = answer.truth[np.isfinite(answer.truth)].astype(np.float64)
    mean = float(finite.mean()) if finite.size else 0.0
    return mean if answer.dtype.kind not in "iub" else float(np.rint(mean))


def _order(extent: int, random: np.random.Generator) -> Array:
    """An order that leaves few in their place, never all."""
    order = random.permutation(extent)
    return np.roll(order, 1) if np.array_equal(order, np.arange(extent)) else order
