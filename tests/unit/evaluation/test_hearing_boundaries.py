"""What is heard again of whole numbers: a few that honest evaluations of these contents have so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernelwright.checks.answer import make_answer
from kernelwright.checks.doubts import FEW
from kernelwright.evaluation.hearing import hear
from kernelwright.evaluation.question import Question
from kernelwright.records.task import Tolerance
from tests.samples import VECTOR as CASE

TRUTH = np.arange(20 * FEW) % 100


def moved(many, truth=TRUTH):
    return truth + (np.arange(truth.size) < many)


class Answers:
    """Knows one honest evaluation more than those of the first hearing."""

    def __init__(self, honest):
        self.honest, self.asked = honest, 0

    def again(self, question):
        self.asked += 1
        (answer,) = question.answers
        more = [make_answer("n", answer.truth, answer.dtype, (self.honest,))]
        return question.doubting(more, question)


def heard(got, honest, truth=TRUTH, measured=True):
    answers = Answers(honest)
    question = Question(CASE, {}, [make_answer("n", truth, truth.dtype)], measured=measured)
    found = hear(answers, question, "n", got, Tolerance(), 0xFF)
    return answers.asked, found.compared.finding is None


@pytest.mark.parametrize(
    ("wrong", "honest", "asked", "passes"),
    [
        (0, 4, 0, True),
        (1, 4, 1, True),
        (20, 20, 1, True),
        (20, 19, 1, False),
        (21, 21, 0, False),  # too many
        (20, 20 * FEW, 1, False),  # what was decided stays decided
    ],
)
def test_a_few_other_integers_are_heard_again(wrong, honest, asked, passes):
    assert heard(moved(wrong), moved(honest)) == (asked, passes)


def test_an_output_of_few_elements_is_always_heard_again():
    few = TRUTH[: FEW - 1]
    assert heard(moved(1, few), moved(1, few), few) == (1, True)
    for wrong in (2, 8, 9, FEW - 1):
        assert heard(moved(wrong, few), moved(1, few), few) == (1, False)
        assert heard(moved(wrong, few), moved(wrong, few), few) == (1, False)
    assert heard(moved(2, TRUTH[:FEW]), moved(2, TRUTH[:FEW]), TRUTH[:FEW]) == (0, False)


@pytest.mark.parametrize("size", [1, 2, 8, 90])
def test_of_timed_contents_only_what_an_honest_evaluation_has_is_right(size):
    """Their honest evaluations are made when a call missed: too many doubts acquit nobody."""
    few = TRUTH[:size]
    honest = moved(size, few)
    assert heard(honest, honest, few, measured=False) == (1, True)
    assert heard(honest + 1, honest, few, measured=False) == (1, False)
    half = moved(size - size // 2, few)
    assert heard(half, honest, few, measured=False) == (1, True)
    assert heard(honest, half, few, measured=False) == (1, size == 1)


def test_whole_floats_are_not():
    truth = TRUTH.astype(np.float64)
    answer = replace(make_answer("n", truth, truth.dtype, (truth,)), whole=True)
    answers = Answers(moved(1, truth))
    found = hear(answers, Question(CASE, {}, [answer]), "n", moved(1, truth), Tolerance(), 0xFF)
    assert (answers.asked, found.compared.finding is None) == (0, False)
