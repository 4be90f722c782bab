"""Asks the oracle what a task's sensitivity is decided from: no candidate is involved.

Two draws of each workload are answered, and one more for every input; more are drawn only where
a difference may have been missed by chance.
"""

import math
import time
from collections.abc import Iterator, Sequence

import numpy as np

from kernelwright.checks import controls, doubts
from kernelwright.checks.answer import Answer
from kernelwright.checks.correctness import allowed, compare, distance
from kernelwright.checks.distance import Array, Errors
from kernelwright.checks.rounding import lower_bits
from kernelwright.checks.sensitivity import SAME_INPUTS, SEEDS_APART, Examined, Row, decide
from kernelwright.errors import JudgeError
from kernelwright.evaluation.answers import STEADY_SECONDS, Answers
from kernelwright.evaluation.draws import Draws, cast
from kernelwright.evaluation.question import Question
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.task import Case, Scalar, Shaped, Tolerance
from kernelwright.tasks.other_values import other_values

MORE_SEEDS = 2
MORE_SEEDS_OF_FEW = 8
"""Further draws before equal answers are believed: a single bit is equal half of the time."""
BY_LUCK = ("last_tile", "last_row", "rounded")
"""Controls that one draw may let pass because of the few elements they change."""
BROKEN = Errors(0.0, 0.0, 0, 0, 0.0, misplaced=1)
FIXED = 0.75
"""A larger share of an input that never changes is refused; triangles stay below."""


def sense(
    answers: Answers,
    cases: Sequence[Case],
    seconds: float | None = None,
    larger: Sequence[Case] = (),
) -> Sensitivity:
    """The sensitivity of a task at some of its workloads.

    Args:
        answers: of the task; its question on each case is reused.
        cases: the workloads.
        seconds: after which no further input is tried; the record names those left out.
        larger: workloads at which wrong outputs alone are tried, on one draw where that tells:
            it takes the answer for one seed more, whereas every input takes one.

    Raises:
        ReferenceFailure: the reference fails.
        JudgeError: the comparison fails its own test.
    """
    found, at = [], []
    for case in (*cases, *larger):
        began = time.monotonic()
        draws, most = Draws(answers, case), math.inf if seconds is None else seconds
        until = -math.inf if case in larger else began + most
        rows = list(_rows(draws, until))
        found.append(Examined(case.workload, rows, time.monotonic() - began))
        draws.forget()
        at.append(draws)
    task = answers.task

    def honest(tolerance: Tolerance) -> bool:
        return all(draws.honest(tolerance) for draws in at)

    return decide(task.name, task.tolerance, found, honest)


def _rows(draws: Draws, until: float) -> Iterator[Row]:
    for number, answer in enumerate(draws.first.answers):
        if answer.truth.size:
            if (share := _in_doubt(draws, number)) is not None:
                yield Row("undecided", answer.name, f"{share:.1%}", tries=[[]])
            yield from _of_output(draws, number, once=until == -math.inf)
            yield _another_seed(draws, number)
            yield from _self_test(draws, answer)
    if not any(answer.truth.size for answer in draws.first.answers):
        return
    for item in draws.case.inputs:
        if np.prod(item.shape, dtype=np.int64):
            yield from _of_input(draws, item, until)
    for scalar in draws.case.scalars:
        yield _of_scalar(draws, scalar, until)


def _in_doubt(draws: Draws, number: int) -> float | None:
    """The share of one output's elements in doubt where it is too large, else None.

    Of few whole numbers one draw tells nothing: they may turn in every third. So theirs are
    counted over several draws.
    """
    answer = draws.first.answers[number]
    if answer.undecided or answer.dtype.kind not in "iub" or answer.truth.size >= doubts.FEW:
        return answer.doubts.share if answer.undecided else None
    places, size = answer.doubts.places.size, answer.truth.size
    until = time.monotonic() + STEADY_SECONDS
    for other in range(1, 1 + MORE_SEEDS_OF_FEW):
        if time.monotonic() > until:
            break
        more = draws.doubts(other, number)
        places, size = places + more.places.size, size + more.size
    return None if doubts.few(places, size) else places / size


def _of_output(draws: Draws, number: int, *, once: bool) -> Iterator[Row]:
    rows: dict[tuple[str, str], Row] = {}
    _stand_in(draws, draws.first, number, rows)
    for other in range(1, 2 + _more(draws, number)):
        by_luck = [row for row in rows.values() if row.name in BY_LUCK]
        lucky = any(row.accepted(draws.answers.task.tolerance) for row in by_luck)
        if not lucky and (once or other > 1):
            break
        _stand_in(draws, draws.question(other), number, rows)
    yield from rows.values()


def _stand_in(
    draws: Draws, question: Question, number: int, rows: dict[tuple[str, str], Row]
) -> None:
    """Try every control of one output against the answer to one question."""
    answer, dtype = question.answers[number], draws.case.outputs[number].dtype
    bits = lower_bits(dtype, draws.answers.task.precision)
    random = np.random.default_rng(number)
    for name, note, values in controls.stand_ins(answer, question.contents, bits, random):
        row = rows.setdefault((name, note), Row(name, answer.name, note))
        if controls.is_right(values, answer):
            continue
        seen = distance(cast(values, answer), answer), answer
        if name in BY_LUCK and row.tries:
            row.tries[0].append(seen)
        else:
            row.tries.append([seen])


def _more(draws: Draws, number: int) -> int:
    few = draws.first.answers[number].truth.size < controls.FEW_ELEMENTS
    return MORE_SEEDS_OF_FEW if few else MORE_SEEDS


def _another_seed(draws: Draws, number: int) -> Row:
    first = draws.first.answers[number]
    row = Row("another_seed", first.name, tries=[[]])
    mine, theirs = draws.first.contents, draws.contents(1)
    if mine and all(np.array_equal(one, theirs[name]) for name, one in mine.items()):
        row.note = SAME_INPUTS
    for other in range(1, 2 + _more(draws, number)):
        truth = draws.question(other).answers[number].truth
        row.tries[0].append((distance(cast(truth, first), first), first))
        if row.tolerances(draws.answers.task.tolerance) > SEEDS_APART:
            break
    return row


def _self_test(draws: Draws, answer: Answer) -> Iterator[Row]:
    """The comparison must reject twice the tolerance, and accept half of it."""
    tolerance = draws.answers.task.tolerance
    if answer.exact:
        return
    limit, rms = allowed(answer, tolerance)
    half = min(limit, rms * answer.truth.size**0.5) / 2
    for name, by in (("twice_the_tolerance", 2 * limit), ("half_the_tolerance", half)):
        values = controls.moved(answer, by)
        if values is None:
            return
        got = cast(values, answer)
        rejected = compare(got, answer, tolerance).finding is not None
        if rejected is not (by > limit):
            raise JudgeError(f"the comparison of {answer.name} fails its own test: {name}")
        row = Row(name, answer.name, right=by < limit)
        row.tries.append([(distance(got, answer), answer)])
        yield row


def _of_input(draws: Draws, item: Shaped, until: float) -> Iterator[Row]:
    """Whether an input can change an output, and whether all of it is ever drawn."""
    name, mine = item.name, draws.first.contents
    row = Row("perturbed", name)
    if time.monotonic() > until:
        row.tried = False
        yield row
        return
    row.tries.append([])
    for contents in _others(draws, name):
        seen = draws.changed({**mine, name: contents})
        if seen is None:
            row.note = "the reference is undefined without it"
            row.tries = [[(BROKEN, draws.first.answers[0])]]
            break
        row.tries[0] += seen
        if not row.accepted(draws.answers.task.tolerance):
            break
    if row.tries and not row.tries[0]:
        row.note = "it holds one value under every seed"
    yield row
    if "float" in item.dtype:
        share_fixed = _fixed(draws, name)
        if FIXED < share_fixed < 1:
            yield Row("pattern", name, f"{share_fixed:.1%}", tries=[[]])


def _others(draws: Draws, name: str) -> Iterator[Array]:
    """Other contents of one input: of other seeds, else its own in another order."""
    mine = draws.first.contents[name]
    for number in range(1, 2 + MORE_SEEDS):
        other = draws.contents(number)[name]
        if not np.array_equal(other, mine):
            yield other
        elif number == 1:
            order = np.random.default_rng(0).permutation(mine.size)
            shuffled = mine.reshape(-1)[order].reshape(mine.shape)
            if not np.array_equal(shuffled, mine):
                yield shuffled


def _fixed(draws: Draws, name: str) -> float:
    mine, other = draws.first.contents[name], draws.contents(1)[name]
    if (mine != other).mean() >= 1 - FIXED:
        return 0.0
    return controls.fixed_share(mine, other, draws.contents(2)[name])


def _of_scalar(draws: Draws, scalar: Scalar, until: float) -> Row:
    """Whether a number that is passed can change an output."""
    row = Row("perturbed", scalar.name)
    if time.monotonic() > until:
        row.tried = False
        return row
    row.tries.append([])
    for value in other_values(scalar):
        scalars = tuple(
            one.model_copy(update={"value": value}) if one.name == scalar.name else one
            for one in draws.case.scalars
        )
        case = draws.case.model_copy(update={"scalars": scalars})
        seen = draws.changed(draws.first.contents, case)
        if seen is None:
            row.note = "the reference is undefined at another value"
            row.tries = [[(BROKEN, draws.first.answers[0])]]
            break
        row.tries[0] += seen
        if not row.accepted(draws.answers.task.tolerance):
            break
    return row
