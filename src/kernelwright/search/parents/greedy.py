"""Greedy: the best of each structure, in proportion to how good it is.

A structure may be mutated once one of its candidates passed the screen or a dearer look. Its
share of the mutations is ``(speedup / best speedup) ** POWER``; the next parent is the one that
is furthest behind its share, so the order needs no chance and no structure is forgotten.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelwright.records.candidate import Candidate
from kernelwright.records.rung import Rung
from kernelwright.search.parents.base import structure

POWER = 4.0


@dataclass
class _Structure:
    best: Candidate
    reached: tuple[Rung, float]
    scores: dict[Rung, float] = field(default_factory=dict)
    uses: int = 0


class Greedy:
    """The rule; the seed is not needed."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._structures: dict[tuple[str, str], _Structure] = {}
        self._of: dict[str, _Structure] = {}

    def tell(self, candidate: Candidate, rung: Rung, score: float) -> None:
        """A candidate passed a look."""
        if rung < Rung.SCREEN:
            return
        found = self._structures.get(structure(candidate))
        if found is None:
            found = _Structure(candidate, (rung, score))
            self._structures[structure(candidate)] = found
        self._of[candidate.id] = found
        found.scores[rung] = max(score, found.scores.get(rung, -math.inf))
        if (rung, score) > found.reached:
            found.best, found.reached = candidate, (rung, score)

    def order(self) -> Sequence[Candidate]:
        """The best of each structure, the one furthest behind its share first."""
        if not self._structures:
            return ()
        # The cheapest look that parents need is the one that all of them had: like with like.
        common = min(rung for found in self._structures.values() for rung in found.scores)
        goods = {key: found.scores.get(common) for key, found in self._structures.items()}
        best = max(good for good in goods.values() if good is not None)

        def behind(key: tuple[str, str]) -> tuple[float, str]:
            found, good = self._structures[key], goods[key]
            share = math.exp(POWER * (good - best)) if good is not None else 0.0
            return ((found.uses + 1) / max(share, 1e-9), found.best.id)

        return [self._structures[key].best for key in sorted(self._structures, key=behind)]

    def used(self, parent: str) -> None:
        """A proposer mutated that candidate."""
        if parent in self._of:
            self._of[parent].uses += 1
