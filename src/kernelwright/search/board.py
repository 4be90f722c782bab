"""Posts: what a look taught, with the number of the evaluation that proves it.

A win is a new champion, told by what changed against the one before; a trap is a failure. Each
trap is posted once a run. Refuses to post without proof.
"""

from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.post import Post

TEXT = 160


class Board:
    """Writes the posts of one run."""

    def __init__(self) -> None:
        self._traps: set[tuple[str, str, str]] = set()

    def win(
        self, number: int, champion: Candidate, before: Candidate | None, effect: float
    ) -> list[Post]:
        """A new champion; ``effect`` is its speed over the one before (or over the baseline)."""
        axis, value = _change(champion, before)
        text = f"{effect:.3g}x over {'the champion before' if before else 'the baseline'}"
        return [
            Post(kind="win", axis=axis, value=value, effect=effect, evaluation=number, text=text)
        ]

    def trap(
        self, number: int, candidate: Candidate, parent: Candidate | None, failed: Evaluation
    ) -> list[Post]:
        """A failure, unless the same was posted before."""
        axis, value = _change(candidate, parent)
        key = (axis, value, failed.outcome.value)
        if key in self._traps:
            return []
        self._traps.add(key)
        text = f"{failed.outcome.value} at {failed.rung.word}: {failed.reason}"
        condition = candidate.strategy if axis != "strategy" else ""
        return [
            Post(
                kind="trap",
                axis=axis,
                value=value,
                condition=condition,
                evaluation=number,
                text=text[:TEXT],
            )
        ]


def _change(candidate: Candidate, before: Candidate | None) -> tuple[str, str]:
    """Which axis changed against another candidate, and to what."""
    if before is None or before.source != candidate.source:
        return "strategy", candidate.strategy or candidate.id
    changed = {
        name: value
        for name, value in candidate.tunables.items()
        if before.tunables.get(name) != value
    }
    names = sorted(changed)
    return " ".join(names) or "none", " ".join(str(changed[name]) for name in names)
