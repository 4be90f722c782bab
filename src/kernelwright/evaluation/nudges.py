"""Honest evaluations of inputs that are moved by what honest arithmetic errs anyway.

Asked of whole numbers and truth values only, where an output is heard again: floats may err by a
multiple of what honest evaluations do, and what is decided at a boundary has no such multiple. Who
sums in an order of its own, or multiplies by a reciprocal, crosses it at other elements.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kernelwright.checks.answer import Answer
from kernelwright.checks.distance import Array
from kernelwright.checks.doubts import Doubts
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.question import Question
from kernelwright.records.task import Task

PAIRS = 2
"""Draws of directions; each is tried with its opposite."""


def widened(
    oracle: Oracle, task: Task, question: Question, own: Sequence[Answer]
) -> Sequence[Answer]:
    """Answers with the doubts that nudged inputs add.

    Args:
        oracle: with the task loaded.
        task: what is asked about.
        question: whose inputs.
        own: its answers, with the honest evaluations of its very contents.
    """
    if not any(answer.dtype.kind in "iub" for answer in own):
        return own
    asked = list(_nudged(task, question.contents))
    found = [oracle.truth(question.case, one, ("native",))["native"] for one in asked]
    return [_joined(answer, [one[answer.name] for one in found]) for answer in own]


def _nudged(task: Task, contents: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
    """Inputs of the type in which sums are made, each element up or down by k of its last units."""
    random, dtype = np.random.default_rng(0), np.dtype(task.accumulate)
    step = dtype.type(task.tolerance.k * np.finfo(dtype).eps)
    moved = [name for name, one in contents.items() if one.dtype == dtype]
    for _ in range(PAIRS if moved else 0):
        signs = {name: random.choice((-step, step), contents[name].shape) for name in moved}
        for turned in (1, -1):
            yield {**contents} | {
                name: (contents[name] * (1 + turned * signs[name])).astype(dtype) for name in moved
            }


def _joined(answer: Answer, more: Sequence[Array]) -> Answer:
    known = answer.doubts
    if answer.dtype.kind not in "iub" or known.many:
        return answer
    honest = [answer.truth.copy() for _ in known.values]
    for one, values in zip(honest, known.values, strict=True):
        one.reshape(-1)[known.places] = values
    return replace(answer, doubts=Doubts.of_integers(answer.truth, (*honest, *more)))
