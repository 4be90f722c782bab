"""What is heard again of whole numbers: a few that honest evaluations of these contents have so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernelwright.checks.answer import make_answer
from kernelwright.evaluation.hearing import FEW, FEWEST, hear
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
        return question.doubting([make_answer("n", answer.truth, answer.dtype, (self.honest,))])


def heard(got, honest, truth=TRUTH):
    answers = Answers(honest)
    question = Question(CASE, {}, [make_answer("n", truth, truth.dtype)])
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
        (20, 20 * FEW, 1, True),  # undecided
    ],
)
def test_a_few_other_integers_are_heard_again(wrong, honest, asked, passes):
    assert heard(moved(wrong), moved(honest)) == (asked, passes)


def test_very_few_are_always_heard_again():
    few = TRUTH[:90]
    assert heard(moved(1, few), moved(1, few), few) == (1, True)
    assert heard(moved(FEWEST, few), moved(1, few), few) == (1, False)
    assert heard(moved(FEWEST + 1, few), moved(1, few), few) == (0, False)


def test_whole_floats_are_not():
    truth = TRUTH.astype(np.float64)
    answer = replace(make_answer("n", truth, truth.dtype, (truth,)), whole=True)
    answers = Answers(moved(1, truth))
    found = hear(answers, Question(CASE, {}, [answer]), "n", moved(1, truth), Tolerance(), 0xFF)
    assert (answers.asked, found.compared.finding is None) == (0, False)
