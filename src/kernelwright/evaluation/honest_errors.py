"""Errors that honest evaluations make, as shares of the answer's size, gathered over draws.

The largest error of one draw is one sample: now and then it is nearly nothing, and an honest
candidate would be held to that. More draws of the same kind tell what is usual.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelwright.checks.answer import Answer
from kernelwright.checks.controls import FEW_ELEMENTS
from kernelwright.checks.correctness import allowed
from kernelwright.records.task import Tolerance

LOOKED_AT = 4096
NEAR = 8.0
"""Share of what is allowed up to which a second hearing may help, and the most it may grant."""


@dataclass(frozen=True)
class HonestErrors:
    """The largest seen of each output, as shares of its scales: of the largest element, rms."""

    shares: dict[str, tuple[float, float]]

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> "HonestErrors":
        """Those of one draw; outputs compared for equality have none."""
        return cls({one.name: _shares(one) for one in answers if not one.exact})

    def joined(self, other: "HonestErrors") -> "HonestErrors":
        """The larger ones."""
        found = dict(self.shares)
        for name, (largest, rms) in other.shares.items():
            known = found.get(name, (0.0, 0.0))
            found[name] = max(known[0], largest), max(known[1], rms)
        return HonestErrors(found)

    def bounded(self, answers: Sequence[Answer], tolerance: Tolerance) -> "HonestErrors":
        """Those that grant each answer no more than a second hearing may."""
        found = dict(self.shares)
        for answer in answers:
            if answer.name in found:
                most = [NEAR * one / tolerance.k for one in allowed(answer, tolerance)]
                scales = answer.scale_largest or 1.0, answer.scale_rms or 1.0
                shares = zip(found[answer.name], most, scales, strict=True)
                largest, rms = (min(share, limit / scale) for share, limit, scale in shares)
                found[answer.name] = largest, rms
        return HonestErrors(found)

    def at(self, answer: Answer) -> Answer:
        """The answer held to these errors, or to its own if they are larger."""
        known = self.shares.get(answer.name)
        if known is None or answer.exact:
            return answer
        return replace(
            answer,
            e0_largest=max(answer.e0_largest, known[0] * answer.scale_largest),
            e0_rms=max(answer.e0_rms, known[1] * answer.scale_rms),
        )


def few(answers: Sequence[Answer]) -> bool:
    """Whether an output has few elements, or few values: its error is next to one sample."""
    return any(not a.exact and 0 < distinct_values(a) < FEW_ELEMENTS for a in answers)


def distinct_values(answer: Answer) -> int:
    """How many different values an output holds, of a few thousand looked at."""
    step = max(1, answer.truth.size // LOOKED_AT)
    stored = answer.truth.reshape(-1)[::step].astype(answer.dtype)
    return int(np.unique(stored.astype(np.float64)).size)


def _shares(answer: Answer) -> tuple[float, float]:
    largest, rms = answer.scale_largest or 1.0, answer.scale_rms or 1.0
    return answer.e0_largest / largest, answer.e0_rms / rms
