"""Whole numbers that turn at a boundary: inputs moved by a few last units tell which they are."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from kernelwright.checks.answer import make_answer
from kernelwright.checks.correctness import judge
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


def test_floats_are_not_asked_about():
    own = [make_answer("y", np.ones(3), np.dtype(np.float32))]
    assert widened(None, TASK, Question(CASE, {}, own), own) is own
