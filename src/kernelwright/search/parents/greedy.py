"""Greedy: the best of each structure, in proportion to how good it is.

A structure may be mutated once one of its candidates passed the screen or a dearer look. Its
share of the mutations is ``(speedup / best speedup) ** POWER``; the next parent is the one that
is furthest behind its share, so the order needs no chance and no structure is forgotten.

The order is kept, not made: what one look or one use changes is one place in it, unless the look
moves what every share is measured by.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from kernelwright.records.candidate import Candidate
from kernelwright.records.rung import Rung
from kernelwright.search.parents.base import structure

POWER = 4.0

Key = tuple[float, str]
"""How far ahead of its share a structure would be, then its best candidate's id: ascending."""


@dataclass
class _Structure:
    best: Candidate
    reached: tuple[Rung, float]
    scores: dict[Rung, float] = field(default_factory=dict)
    uses: int = 0
    key: Key | None = None
    """Where it stands in the order."""


class Greedy:
    """The rule; the seed is not needed."""

    def __init__(self, seed: int = 0) -> None:
        self._structures: dict[tuple[str, str], _Structure] = {}
        self._of: dict[str, _Structure] = {}
        # The cheapest look that parents need is the one that all of them had: like with like.
        self._common, self._top = Rung.CONFIRM, -math.inf
        self._keys: list[Key] = []
        self._parents: list[Candidate] = []

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
        if rung < self._common or (rung == self._common and score > self._top):
            self._measure_by(rung)
        else:
            self._place(found)

    def order(self) -> Sequence[Candidate]:
        """The best of each structure, the one furthest behind its share first."""
        return tuple(self._parents)

    def used(self, parent: str) -> None:
        """A proposer mutated that candidate."""
        if parent in self._of:
            self._of[parent].uses += 1
            self._place(self._of[parent])

    def _measure_by(self, rung: Rung) -> None:
        """Another rung, or another best at it, changes every share."""
        everybody = self._structures.values()
        self._common = rung
        self._top = max(found.scores[rung] for found in everybody if rung in found.scores)
        ranked = sorted(everybody, key=self._key)
        self._parents = [found.best for found in ranked]
        self._keys = [self._key(found) for found in ranked]
        for found, key in zip(ranked, self._keys, strict=True):
            found.key = key

    def _place(self, found: _Structure) -> None:
        """Move one structure to where it belongs."""
        if found.key is not None:
            at = bisect_left(self._keys, found.key)
            del self._keys[at], self._parents[at]
        found.key = self._key(found)
        at = bisect_left(self._keys, found.key)
        self._keys.insert(at, found.key)
        self._parents.insert(at, found.best)

    def _key(self, found: _Structure) -> Key:
        good = found.scores.get(self._common)
        share = math.exp(POWER * (good - self._top)) if good is not None else 0.0
        return ((found.uses + 1) / max(share, 1e-9), found.best.id)
