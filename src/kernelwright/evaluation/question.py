"""What a candidate is asked, and what it should answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kernelwright.checks.answer import Answer
from kernelwright.evaluation.arena import Array
from kernelwright.evaluation.honest_errors import HonestErrors
from kernelwright.records.task import Case

Make = Callable[[int], dict[str, Array]]
"""Contents of one kind, by seed."""


@dataclass(frozen=True)
class Question:
    """Contents shown to candidates, and what they should make of them."""

    case: Case
    contents: dict[str, Array]
    answers: list[Answer]
    key: str = ""
    """Names its kind."""
    make: Make | None = field(default=None, compare=False)
    """Draws more of its kind."""
    measured: bool = True
    """Whether honest evaluations of these very contents were made when it was first asked."""

    @property
    def compared(self) -> tuple[str, ...]:
        """Names of the outputs that are compared: those whose answer is not undecided."""
        return tuple(answer.name for answer in self.answers if not answer.undecided)

    @property
    def decided(self) -> bool:
        """Whether every output is compared."""
        return len(self.compared) == len(self.answers)

    def answer(self, name: str) -> Answer:
        """That of one output."""
        return next(one for one in self.answers if one.name == name)

    def held_to(self, errors: HonestErrors) -> "Question":
        """The same, with at least these errors taken for honest."""
        return replace(self, answers=[errors.at(one) for one in self.answers])

    def doubting(self, heard: Sequence[Answer], first: "Question") -> "Question":
        """The same, with the doubts of answers that more honest evaluations were made for.

        An output that was compared stays so. Where they leave too many elements in doubt, those
        of the first time hold; if none were made then, each such element may still be only as one
        of them has it.

        Args:
            heard: the same answers, with what honest evaluations of these very contents made.
            first: the question as it was first asked.
        """
        found = []
        for one, more, asked in zip(self.answers, heard, first.answers, strict=True):
            doubts = more.doubts
            if doubts.many:
                doubts = asked.doubts if first.measured else doubts.granted()
            found.append(replace(one, doubts=doubts))
        return replace(self, answers=found)

    def whole(self) -> "Question":
        """The same, with equality demanded of outputs that every honest evaluation reproduced."""
        return replace(self, answers=[replace(a, whole=a.reproduced) for a in self.answers])
