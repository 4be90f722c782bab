"""Compares an output with the right one, and hears again what misses by little or comes late."""

import time
from contextlib import suppress
from dataclasses import dataclass

from kernelwright.checks.answer import Answer
from kernelwright.checks.correctness import Compared, compare, judge
from kernelwright.checks.doubts import FEW, few
from kernelwright.checks.finding import Finding
from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.arena import Array
from kernelwright.evaluation.honest_errors import NEAR
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Tolerance

LATE_SECONDS = 0.1
"""How long a wrong output is given to become right, which tells deferred work from wrong work."""


@dataclass(frozen=True)
class Heard:
    """A comparison, and the answer to which the output was held in the end."""

    answer: Answer
    compared: Compared


def hear(
    answers: Answers, question: Question, name: str, got: Array, tolerance: Tolerance, poison: int
) -> Heard:
    """Compare output ``name``, if need be with all that is known of honest errors.

    Args:
        answers: asked again.
        question: that the output answers.
        name: of the output.
        got: the output.
        tolerance: the task's.
        poison: byte with which the output was filled before the call.
    """
    answer = question.answer(name)
    compared = compare(got, answer, tolerance, poison)
    if _near(compared, answer):
        with suppress(ReferenceFailure):  # which has nothing more to say, then
            answer = answers.again(question).answer(name)
            compared = compare(got, answer, tolerance, poison)
    return Heard(answer, compared)


def _near(compared: Compared, answer: Answer) -> bool:
    """Whether what is rejected may be as near as honest arithmetic is.

    An output of so few elements that one is more than may be in doubt is always heard again.
    """
    if compared.finding is None or answer.whole:
        return False
    if not compared.misplaced:
        return 1 < compared.share < NEAR
    return answer.truth.size < FEW or few(compared.misplaced, answer.truth.size)


def late(heard: Heard, shared: Array, tolerance: Tolerance) -> Finding | None:
    """That a wrong output has become right meanwhile: its work was deferred; None if it has not.

    Args:
        heard: what was wrong with it.
        shared: the output, where the candidate can still write it.
        tolerance: the task's.
    """
    time.sleep(LATE_SECONDS)
    if heard.compared.finding is None or judge(shared, heard.answer, tolerance) is not None:
        return None
    reason = "the output was right only some time after the call had returned"
    return Finding(Outcome.DEFERRED_WORK, reason, heard.compared.finding.evidence)
