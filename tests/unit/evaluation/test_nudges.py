"""Whole numbers that turn at a boundary: inputs moved by a few last units tell which they are."""

from __future__ import annotations

from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from kernelwright.checks.answer import make_answer
from kernelwright.checks.correctness import judge
from kernelwright.evaluation.arena import numpy_dtype
from kernelwright.evaluation.nudges import widened
from kernelwright.evaluation.question import Question
from kernelwright.records.task import Tolerance
from tests.samples import VECTOR as CASE

TASK = SimpleNamespace(accumulate="float32", tolerance=Tolerance())


def test_what_lies_within_k_units_of_a_boundary_is_right_either_way():
    x = np.arange(1, 1001, dtype=np.float32)
    x[[7, 500]] = np.nextafter(np.float32(0.5), np.float32(0)), np.float32(0.4999)

    def truth(case, contents, parts):
        return {"native": {"n": np.rint(contents["x"]).astype(np.int64)}}

    right = np.rint(x.astype(np.float64)).astype(np.int64)
    own = [make_answer("n", right, right.dtype, (right,))]
    question = Question(CASE, {"x": x}, own)
    (answer,) = widened(SimpleNamespace(truth=truth), TASK, question, own)
    assert answer.doubts.places.tolist() == [7]
    for place, accepted in ((7, True), (500, False), (8, False)):
        got = right.copy()
        got[place] += 1
        assert (judge(got, answer, TASK.tolerance) is None) is accepted


def asked(x, task=TASK, truth=lambda x: np.argmax(x, axis=-1)):
    """The answer to a question whose only honest evaluations are exact, after the nudges."""
    right = truth(x.astype(np.float64))
    own = [make_answer("n", right, right.dtype, (right,))]

    def evaluated(case, contents, parts):
        return {"native": {"n": truth(contents["x"])}}

    (answer,) = widened(SimpleNamespace(truth=evaluated), task, Question(CASE, {"x": x}, own), own)
    return answer


@pytest.mark.parametrize("rows", [1, 2, 8, 9, 50])
def test_what_nudges_put_in_doubt_at_many_elements_stays_decided(rows):
    x = np.random.default_rng(1).random((rows, 200_000), np.float32)
    x[:, 4096:] = 1 - x[:, 4096:] * np.float32(2e-7)  # the largest are nearly equal
    answer = asked(x)
    assert not answer.undecided
    assert not answer.doubts.places.size
    first = x[:, :4096].argmax(axis=-1)
    assert judge(first, answer, TASK.tolerance) is not None
    assert judge(answer.truth, answer, TASK.tolerance) is None


@pytest.mark.parametrize("rows", [2, 8, 9, 200])
@pytest.mark.parametrize("ties", [1, 1000])
def test_the_index_among_equals_stays_that_of_the_reference(rows, ties):
    x = np.random.default_rng(2).random((rows, 100), np.float32)
    x[:ties, [20, 70]] = 5
    answer = asked(x)
    assert not answer.doubts.places.size
    last = 99 - x[:, ::-1].argmax(axis=-1)
    assert judge(last, answer, TASK.tolerance) is not None


@pytest.mark.parametrize("accumulate", ["float64", "float32", "bfloat16", "float16"])
def test_every_type_in_which_sums_are_made_can_be_nudged(accumulate):
    dtype = numpy_dtype(accumulate)
    x = np.linspace(1, 2, 1000).astype(dtype)
    x[7] = np.asarray(1.5, dtype)
    seen = []

    def truth(x):
        seen.append(x)
        return (x.astype(np.float64) >= 1.5).astype(np.int64)

    asked(x, SimpleNamespace(accumulate=accumulate, tolerance=Tolerance()), truth)
    moved = [one.astype(np.float64) / x.astype(np.float64) - 1 for one in seen[1:]]
    eps = float(ml_dtypes.finfo(dtype).eps)
    assert len(moved) == 4
    for one in moved:
        assert (np.abs(one) > 2.9 * eps).all()
        assert (np.abs(one) < 5.1 * eps).all()
        assert 0.3 < (one > 0).mean() < 0.7
    assert ((moved[0] > 0) == (moved[1] < 0)).all()


def test_floats_are_not_asked_about():
    own = [make_answer("y", np.ones(3), np.dtype(np.float32))]
    assert widened(None, TASK, Question(CASE, {}, own), own) is own
