"""Compares an output with the right one; what misses by little is heard again."""

from dataclasses import dataclass

from kernelwright.checks.answer import Answer
from kernelwright.checks.correctness import Compared, compare
from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.arena import Array
from kernelwright.evaluation.question import Question
from kernelwright.records.task import Tolerance

NEAR = 8.0
"""Share of what is allowed up to which a second hearing may help."""


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
    if compared.finding is not None and 1 < compared.share < NEAR:
        answer = answers.again(question).answer(name)
        compared = compare(got, answer, tolerance, poison)
    return Heard(answer, compared)
