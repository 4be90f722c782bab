"""What is heard again before an output is rejected: errors a little too large, answers too late."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.checks.answer import Answer
from kernelwright.evaluation import hearing
from kernelwright.evaluation.hearing import hear, late
from kernelwright.evaluation.honest_errors import NEAR, HonestErrors
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Tolerance

TRUTH = np.linspace(1.0, 2.0, 8)
HONEST = 1e-9
TOLERANCE = Tolerance(k=4.0)
ANSWER = Answer("y", TRUTH, np.dtype(np.float64), 2.0, 2.0, HONEST, HONEST)


class Answers:
    """Knows honest errors that are so many times as large as those of the first draw."""

    def __init__(self, times=1.0):
        self.share, self.asked = times * HONEST / 2.0, 0

    def again(self, question):
        self.asked += 1
        return question.held_to(HonestErrors({"y": (self.share, self.share)}))


def heard(answers, share):
    """An output whose error is so large a share of what is allowed."""
    got = TRUTH + share * TOLERANCE.k * HONEST
    return hear(answers, Question(object(), {}, [ANSWER]), "y", got, TOLERANCE, 0xFF)


@pytest.mark.parametrize(
    ("share", "times", "asked", "passes"),
    [
        (0.5, 1.0, 0, True),
        (2.0, 3.0, 1, True),
        (2.0, 1.0, 1, False),
        (NEAR + 1, 100.0, 0, False),  # no draw makes that honest
    ],
)
def test_what_misses_by_little_is_heard_again(share, times, asked, passes):
    answers = Answers(times)
    found = heard(answers, share)
    assert answers.asked == asked
    assert (found.compared.finding is None) is passes


def test_who_cannot_be_asked_again_leaves_the_first_verdict():
    class Failing(Answers):
        def again(self, question):
            raise ReferenceFailure("deadline", "the reference took too long")

    assert heard(Failing(), 2.0).compared.finding is not None


def test_an_output_is_held_to_the_answer_of_the_last_hearing():
    assert heard(Answers(3.0), 2.0).answer.e0_largest == pytest.approx(3 * HONEST)
    assert heard(Answers(3.0), 0.5).answer is ANSWER


def test_what_becomes_right_only_later_is_deferred_work(monkeypatch):
    monkeypatch.setattr(hearing, "LATE_SECONDS", 0.0)
    wrong = heard(Answers(), 2.0)
    found = late(wrong, TRUTH, TOLERANCE)
    assert found is not None
    assert found.outcome is Outcome.DEFERRED_WORK
    assert found.evidence == wrong.compared.finding.evidence
    assert late(wrong, TRUTH + 1.0, TOLERANCE) is None
