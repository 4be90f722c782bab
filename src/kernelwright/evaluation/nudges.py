"""Honest evaluations of inputs that are moved by as much as the tolerance lets floats err.

Asked of whole numbers and truth values only, where an output is heard again: floats may err by a
multiple of what honest evaluations do, and what is decided at a boundary has no such multiple. Who
sums in an order of its own, or multiplies by a reciprocal, crosses it at other elements. Nudges
only add to what is accepted of few elements: an output of which they move many is held to what
evaluations of the inputs as they are made of it. Equal numbers are moved alike, so that which of
equal elements is taken stays as the reference has it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import ml_dtypes
import numpy as np

from kernelwright.checks.answer import Answer
from kernelwright.checks.distance import Array
from kernelwright.checks.doubts import Doubts
from kernelwright.evaluation.arena import numpy_dtype
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.question import Question
from kernelwright.records.task import Task

PAIRS = 2
"""Draws of directions; each is tried with its opposite."""
GOLDEN = 0x9E3779B97F4A7C15
"""An odd number whose multiples differ in their high bits: 2**64 by the golden ratio."""


def widened(
    oracle: Oracle, task: Task, question: Question, own: Sequence[Answer]
) -> Sequence[Answer]:
    """Answers with the doubts that nudged inputs add, where those stay few.

    Args:
        oracle: with the task loaded.
        task: what is asked about.
        question: whose inputs.
        own: its answers, with the honest evaluations of its very contents.
    """
    if not any(answer.dtype.kind in "iub" and not answer.undecided for answer in own):
        return own
    asked = list(_nudged(task, question.contents))
    found = [oracle.truth(question.case, one, ("native",))["native"] for one in asked]
    return [_joined(answer, [one[answer.name] for one in found]) for answer in own]


def _nudged(task: Task, contents: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
    """Inputs of the accumulate type with every element up or down by ``k * eps`` of itself.

    That is k to 2 k of its last units. Inputs of other types stay as they are.
    """
    dtype = numpy_dtype(task.accumulate)
    step = task.tolerance.k * float(ml_dtypes.finfo(dtype).eps)  # type: ignore[no-untyped-call]
    moved = [name for name, one in contents.items() if one.dtype == dtype]
    for number in range(PAIRS if moved else 0):
        up = {name: _upwards(contents[name], number) for name in moved}
        for turned in (step, -step):
            yield {**contents} | {
                name: _times(contents[name], np.where(up[name], 1 + turned, 1 - turned))
                for name in moved
            }


def _upwards(values: Array, number: int) -> Array:
    """Which elements go up: a draw for each value, so that equal ones go together."""
    bits = np.ascontiguousarray(values).view(np.dtype(f"u{values.dtype.itemsize}"))
    mixed = (bits.astype(np.uint64) + np.uint64(number + 1)) * np.uint64(GOLDEN)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(GOLDEN)
    found: Array = (mixed >> np.uint64(63)).astype(bool)
    return found


def _times(values: Array, factors: Array) -> Array:
    found: Array = (values.astype(np.float64) * factors).astype(values.dtype)
    return found


def _joined(answer: Answer, more: Sequence[Array]) -> Answer:
    known = answer.doubts
    if answer.dtype.kind not in "iub" or known.many:
        return answer
    honest: list[Array] = [answer.truth.copy() for _ in known.values]
    for one, values in zip(honest, known.values, strict=True):
        one.reshape(-1)[known.places] = values
    wider = Doubts.of_integers(answer.truth, (*honest, *more))
    return answer if wider.many else replace(answer, doubts=wider)
