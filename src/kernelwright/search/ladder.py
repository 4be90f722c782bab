"""Asynchronous successive halving: who goes up, decided the moment it can be decided.

After Li et al., *A System for Massively Parallel Hyperparameter Tuning* (2018): the top 1/η of
what a rung has seen so far goes up at once, without waiting for the rung to fill. Failures count
as seen. Three rules are ours:

- a candidate whose interval lies wholly under the champion's, at the same rung, never goes up;
- a *coarse* candidate (one structure of many) skips the halving after the first timed rung:
  tiny shapes order structures badly, and there are few of them;
- when the device would otherwise idle, the best of the lowest rung that has one goes up: nobody
  starves because too few came after them.

Ties are broken by the candidate's id, so who goes up depends on what was seen, not on the order
in which it arrived.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kernelwright.records.rung import Rung
from kernelwright.search.score import Score

Key = tuple[float, str]
"""Minus the score, then the id: ascending order is best first."""


@dataclass
class _Step:
    """One timed rung: what it has seen, and who still waits on it."""

    seen: int = 0
    ranked: list[Key] = field(default_factory=list)
    waiting: list[Key] = field(default_factory=list)
    coarse: list[Key] = field(default_factory=list)
    """Those of the waiting who need no quota."""
    aside: list[tuple[Key, bool]] = field(default_factory=list)
    """Barred by the present champion, and whether they were coarse."""
    scores: dict[str, Score] = field(default_factory=dict)


class Ladder:
    """The timed rungs below confirm, and who stands where."""

    def __init__(self, rungs: Sequence[Rung], eta: int) -> None:
        """Begin empty.

        Args:
            rungs: timed rungs below confirm, ascending.
            eta: one of this many goes up.
        """
        self.rungs = tuple(rungs)
        self.eta = eta
        self._steps = {rung: _Step() for rung in rungs}
        self._next = dict(zip(self.rungs, self.rungs[1:], strict=False))
        self._champion = ""

    @property
    def champion(self) -> str:
        """Id of the leader at the last rung, whose intervals bar the way."""
        return self._champion

    @champion.setter
    def champion(self, candidate: str) -> None:
        if candidate != self._champion:
            self._champion = candidate
            self._take_back()

    def add(self, candidate: str, rung: Rung, score: Score | None, *, coarse: bool) -> None:
        """A rung has seen a candidate; ``score`` is None if it failed."""
        step = self._steps[rung]
        step.seen += 1
        if score is None:
            return
        key = (-score.value, candidate)
        step.scores[candidate] = score
        insort(step.ranked, key)
        if rung in self._next:
            insort(step.waiting, key)
            if coarse and rung is self.rungs[0]:
                insort(step.coarse, key)

    def score(self, candidate: str, rung: Rung) -> Score | None:
        """What a candidate scored at a rung, if it passed there."""
        return self._steps[rung].scores.get(candidate)

    def leaders(self) -> Iterator[str]:
        """Candidates that passed the last rung, best first."""
        return (candidate for _, candidate in self._steps[self.rungs[-1]].ranked)

    def best_rung(self) -> Rung:
        """The highest rung that somebody passed; draft if nobody passed any."""
        passed = [rung for rung in self.rungs if self._steps[rung].scores]
        return passed[-1] if passed else Rung.DRAFT

    def promotable(self) -> tuple[str, Rung] | None:
        """Who goes up by the rule, and to which rung; the highest rung first."""
        for rung in reversed(self.rungs[:-1]):
            step = self._steps[rung]
            self._set_aside(rung)
            quota = step.seen // self.eta
            if step.waiting and bisect_left(step.ranked, step.waiting[0]) < quota:
                return step.waiting[0][1], self._next[rung]
            if step.coarse:
                return step.coarse[0][1], self._next[rung]
        return None

    def otherwise_idle(self, *, only_hopeful: bool) -> tuple[str, Rung] | None:
        """Who goes up only because the device has nothing else to do.

        Args:
            only_hopeful: only a candidate that scored above the champion where it stands; used
                while other candidates are still being written or built.
        """
        for rung in self.rungs[:-1]:
            self._set_aside(rung)
            for _, candidate in self._steps[rung].waiting[:1]:
                if not only_hopeful or self._hopeful(candidate, rung):
                    return candidate, self._next[rung]
        return None

    def promote(self, candidate: str, to: Rung) -> None:
        """A candidate leaves the rung below ``to``."""
        below = self.rungs[self.rungs.index(to) - 1]
        step = self._steps[below]
        _remove(step.waiting, (-step.scores[candidate].value, candidate))
        _remove(step.coarse, (-step.scores[candidate].value, candidate))

    def barred(self, candidate: str, rung: Rung) -> bool:
        """Whether its interval lies wholly under the champion's at that rung."""
        champion = self._steps[rung].scores.get(self.champion)
        if champion is None or candidate == self.champion:
            return False
        return self._steps[rung].scores[candidate].high < champion.low

    def _set_aside(self, rung: Rung) -> None:
        """Take barred candidates off the front, so that nobody looks at them again and again."""
        step = self._steps[rung]
        for queue in (step.waiting, step.coarse):
            while queue and self.barred(queue[0][1], rung):
                key = queue[0]
                step.aside.append((key, _remove(step.coarse, key)))
                _remove(step.waiting, key)

    def _take_back(self) -> None:
        """Another champion bars others."""
        for step in self._steps.values():
            for key, coarse in step.aside:
                insort(step.waiting, key)
                if coarse:
                    insort(step.coarse, key)
            step.aside.clear()

    def _hopeful(self, candidate: str, rung: Rung) -> bool:
        champion = self._steps[rung].scores.get(self.champion)
        return champion is None or self._steps[rung].scores[candidate].value > champion.value


def _remove(queue: list[Key], key: Key) -> bool:
    """Take a key out of a sorted list; whether it was there."""
    at = bisect_left(queue, key)
    if at == len(queue) or queue[at] != key:
        return False
    del queue[at]
    return True
