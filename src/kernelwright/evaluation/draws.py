"""Contents of several seeds for one workload, and what the reference makes of them."""

from collections.abc import Mapping

import numpy as np

from kernelwright.checks.answer import Answer
from kernelwright.checks.correctness import distance, share
from kernelwright.checks.distance import Array, measure
from kernelwright.checks.doubts import Doubts
from kernelwright.checks.sensitivity import Seen
from kernelwright.evaluation.answers import TRUTH_ONLY, Answers
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.records.task import Case, Tolerance

HONEST_DRAWS = 4


class Draws:
    """Draws as they are asked for; each is answered once.

    Args:
        answers: of the task; its question on the case is the first draw.
        case: the workload.
    """

    def __init__(self, answers: Answers, case: Case) -> None:
        self.answers = answers
        self.case = case
        self.first = answers.base(case)
        self._more: dict[int, Question] = {}
        self._contents: dict[int, dict[str, Array]] = {}

    def contents(self, number: int) -> dict[str, Array]:
        """Inputs of another seed, from 1."""
        if number not in self._contents:
            seed = self.answers.seed("sense", self.case.workload, number)
            self._contents[number] = self.answers.draw(self.case, seed)
        return self._contents[number]

    def question(self, number: int) -> Question:
        """Inputs of another seed, from 1, and the right outputs."""
        if number not in self._more:
            contents = self.contents(number)
            right = self.answers.answer(self.case, contents, known=self.case.workload)
            self._more[number] = Question(self.case, contents, right)
        return self._more[number]

    def forget(self) -> None:
        """Give the memory back; what is asked for again is drawn again."""
        self._more.clear()
        self._contents.clear()

    def doubts(self, number: int, output: int) -> Doubts:
        """Those of one output on the inputs of another seed."""
        answer = self.question(number).answers[output]
        honest = self.answers.honest(self.case, self.contents(number))
        return Doubts.of_integers(answer.truth, [one[answer.name] for one in honest])

    def changed(self, contents: Mapping[str, Array], case: Case | None = None) -> list[Seen] | None:
        """How far the outputs for other contents are from the first; None where undefined.

        Raises:
            ReferenceFailure: the reference fails for another reason than the contents.
        """
        try:
            truths = self.answers.oracle.truth(case or self.case, contents, TRUTH_ONLY)["truth"]
        except ReferenceFailure as failure:
            if not failure.undefined:
                raise
            return None
        return [(distance(cast(truths[a.name], a), a), a) for a in self.first.answers]

    def honest(self, tolerance: Tolerance) -> bool:
        """Whether honest evaluations pass on the contents of a few other seeds.

        Their errors made the tolerance of the first draw, so that one other draw would pass by
        luck half of the time even if nothing were to spare.
        """
        return all(
            answer.exact or share(measure(one[answer.name], answer.truth), answer, tolerance) <= 1
            for question in map(self.question, range(1, 1 + HONEST_DRAWS))
            for one in self.answers.honest(self.case, question.contents)
            for answer in question.answers
        )


def cast(values: Array, answer: Answer) -> Array:
    """Values as a kernel would store them."""
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(answer.dtype)
