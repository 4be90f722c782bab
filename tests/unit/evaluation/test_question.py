"""What of a question is compared, and what more honest evaluations put in doubt."""

from __future__ import annotations

import numpy as np

from kernelwright.checks.answer import make_answer
from kernelwright.checks.correctness import judge
from kernelwright.evaluation.question import Question
from kernelwright.records.task import Tolerance
from tests.samples import VECTOR as CASE

TRUTH = np.arange(64)
NATIVE = np.where(TRUTH == 7, 8, TRUTH)


def asked(*honest):
    return Question(CASE, {}, [make_answer("n", TRUTH, TRUTH.dtype, honest)])


def test_an_output_of_which_honest_evaluations_disagree_is_not_compared():
    assert asked(TRUTH, NATIVE).compared == ("n",)
    assert asked(TRUTH, TRUTH + 1).compared == ()


def test_doubts_that_are_measured_later_are_taken_over():
    strict = asked()
    (answer,) = strict.answers
    assert judge(NATIVE, answer, Tolerance()) is not None
    (wider,) = strict.doubting(asked(TRUTH, NATIVE).answers, strict).answers
    assert judge(NATIVE, wider, Tolerance()) is None


def test_what_was_compared_stays_compared():
    known = asked(NATIVE)
    found = known.doubting(asked(NATIVE, TRUTH + 1).answers, known)
    assert found.compared == ("n",)
    (answer,) = found.answers
    assert judge(NATIVE, answer, Tolerance()) is None
    assert judge(TRUTH + 1, answer, Tolerance()) is not None


def test_an_output_that_was_not_compared_stays_so():
    undecided = asked(TRUTH + 1)
    assert undecided.doubting(asked(TRUTH + 1, NATIVE).answers, undecided).compared == ()
