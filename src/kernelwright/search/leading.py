"""Who leads a run in which nobody is confirmed.

Refuses to give a number: one that no confirm stands behind would be quoted without the reserve.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kernelwright.records.candidate import Candidate
from kernelwright.records.rung import Rung
from kernelwright.search.score import score
from kernelwright.store.step import StoredEvaluation


@dataclass(frozen=True)
class Leading:
    """The candidate that a confirm would be made of; nothing is claimed of it."""

    candidate: Candidate
    rung: Rung
    """The dearest look that it passed."""


def leader(looks: Sequence[StoredEvaluation], rival: str) -> tuple[str, Rung] | None:
    """Id of whom a confirm would be made of, and the rung it passed; None while nobody was timed.

    Args:
        looks: evaluations of a run, in order of completion.
        rival: the baseline that looks are compared with.
    """
    confirms = {
        one.evaluation.candidate: one.evaluation.passed
        for one in looks
        if one.evaluation.rung is Rung.CONFIRM
    }
    scored = [
        (look.rung, found.value, look.candidate)
        for look in (one.evaluation for one in looks)
        if look.rung < Rung.CONFIRM and (found := score(look, (rival,))) is not None
    ]
    top = max((rung for rung, _, _ in scored), default=None)
    standing = [
        (-value, name)
        for rung, value, name in scored
        if rung is top and confirms.get(name) is not False
    ]
    return None if top is None or not standing else (min(standing)[1], top)
