"""Whether a speedup that somebody claims of a kernel is what a confirm measured."""

import math
from typing import Literal, Self

from kernelwright.devices.disturbance import disturbance
from kernelwright.errors import UsageError
from kernelwright.records.run import MOST_SPEEDUP
from kernelwright.report import text
from kernelwright.search.score import strongest
from kernelwright.timing.statistics import SAME_AT_MOST
from kernelwright.verbs import base
from kernelwright.verbs.compare_answer import OverallRow, overall
from kernelwright.verbs.evaluation_answer import EvaluationAnswer

Verdict = Literal["confirmed", "refuted", "undecided"]
NARROW = 0.25
"""Half of an interval, as a share of the claim (both as logarithms), up to which it confirms a
claim that lies in it: an interval from 0.5x to 10x holds 2.3x and says nothing of it."""


def claimed_speedup(words: str) -> float:
    """The number in ``2.3x``, ``2.3`` or ``2.3×``.

    Raises:
        UsageError: it is no speedup.
    """
    try:
        found = float(words.strip().rstrip("xX×"))
    except ValueError:
        found = math.nan
    if not 0 < found <= MOST_SPEEDUP:
        raise UsageError(f"{words!r} is no speedup", hint="write it like --claim 2.3x")
    return found


def verdict(claim: float, found: OverallRow | None) -> Verdict:
    """What a measurement says of a claim.

    Args:
        claim: a speedup, 1 for none.
        found: what was measured; None where the kernel was rejected.
    """
    if found is None:
        return "refuted"
    edge = 1 + found.margin
    if claim > found.high * edge:
        return "refuted"
    if claim < found.low:
        return "confirmed"
    # A margin tells how loud the machine was; a loud one confirms no more than a quiet one.
    near = 1 + min(found.margin, SAME_AT_MOST)
    half = math.log(found.high / found.low) / 2
    narrow = half <= max(NARROW * abs(math.log(claim)), math.log(near))
    return "confirmed" if narrow and claim <= found.high * near else "undecided"


class ClaimedAnswer(base.Answer):
    """A claim beside what was measured."""

    task: str
    claim: float
    verdict: Verdict
    reason: str
    baseline: str
    """The strongest; empty where nothing was timed."""
    measured: OverallRow | None
    """Over it, all workloads together; None where the kernel was rejected."""
    look: EvaluationAnswer
    """The confirm."""

    @classmethod
    def of(cls, task: str, claim: float, look: EvaluationAnswer) -> Self:
        """The answer that a confirm gives.

        Args:
            task: as it was named.
            claim: the speedup that is claimed.
            look: the confirm of the file.
        """
        rivals = strongest(look.evaluation) if look.evaluation.passed else ()
        measured = overall(rivals)
        said = verdict(claim, measured)
        return cls(
            task=task,
            claim=claim,
            verdict=said,
            reason=_reason(claim, measured, said, look),
            baseline=rivals[0].baseline if rivals else "",
            measured=measured,
            look=look,
        )

    def exit_code(self) -> int:
        """3 when it is refuted."""
        return 3 if self.verdict == "refuted" else 0

    def text(self) -> str:
        """The confirm, then the claim beside it."""
        lines = [text.labelled("claimed", f"{self.claim:.2f}x")]
        if self.measured:
            one = self.measured
            found = text.ratio(one.ratio, one.low, one.high)
            lines.append(text.labelled("measured", f"{found} against {self.baseline}"))
        lines.append(text.labelled("verdict", f"{self.verdict.upper()}: {self.reason}"))
        return f"{self.look.text()}\n\n" + "\n".join(lines)

    def notes(self) -> list[str]:
        """Whether the machine was busy, and what the confirm says besides."""
        found = disturbance(self.look.evaluation.conditions)
        busy = [f"hint: {found} meanwhile: audit again when it is quiet"] if found else []
        return [*busy, *self.look.notes()]


def _reason(claim: float, found: OverallRow | None, said: Verdict, look: EvaluationAnswer) -> str:
    if found is None:
        return f"the kernel is rejected ({look.outcome})" if look.reason else "nothing was timed"
    if said == "refuted":
        return f"even the upper end of what was measured, {found.high:.2f}x, is less"
    if said == "undecided":
        return "what was measured is too uncertain to say"
    if claim < found.low:
        return "the kernel is faster than that"
    if claim > found.high:
        return "it lies above what was measured by no more than the margin"
    return "it lies within what was measured"
