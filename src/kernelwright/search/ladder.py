"""Asynchronous successive halving: who goes up, decided the moment it can be decided.

After Li et al., *A System for Massively Parallel Hyperparameter Tuning* (2018): the top 1/η of
what a rung has seen so far goes up at once, without waiting for the rung to fill. Failures count
as seen. Four rules are ours:

- a candidate whose interval lies wholly under the champion's, at the same rung, never goes up;
- a *coarse* candidate (one structure of many) skips the halving, and the rule before, after the
  first timed rung: tiny shapes order structures badly, and there are few of them;
- a rung that is seen to order badly is lenient: once 6 candidates have scores at it and at the
  next one, and Kendall's τ between the latest 200 of these is below 0.3, two thirds go up, and at
  the first timed rung the champion bars nobody;
- when the device would otherwise idle, the best of the lowest rung that has one goes up: nobody
  starves because too few came after them.

Ties are broken by the candidate's id, so who goes up depends on what was seen, not on the order
in which it arrived; only which pairs are the latest 200 does.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kernelwright.records.rung import Rung
from kernelwright.search.score import Score

PAIRED = 6
"""Candidates scored at two neighbouring rungs before their agreement counts."""
LATEST = 200
"""Pairs of scores that the agreement of two rungs is computed from."""
BAD_ORDER = 0.3
"""Kendall's τ below which a rung is lenient."""
LENIENT_ETA = 1.5

Key = tuple[float, str]
"""Minus the score, then the id: ascending order is best first."""


@dataclass
class _Step:
    """One timed rung: what it has seen, and who still waits on it."""

    seen: int = 0
    ranked: list[Key] = field(default_factory=list)
    waiting: list[Key] = field(default_factory=list)
    coarse: list[Key] = field(default_factory=list)
    """Structures after the first timed rung; they wait apart and need no quota."""
    aside: list[Key] = field(default_factory=list)
    """Barred by the present champion."""
    scores: dict[str, Score] = field(default_factory=dict)
    agreement: int = 0
    """Two of ``paired`` ordered alike here and at the next rung, minus those that are not."""
    paired: deque[tuple[float, float]] = field(default_factory=deque)
    """Scores here and at the next rung, of the latest candidates that have both."""

    def orders_badly(self) -> bool:
        """Whether the next rung contradicts this one."""
        count = len(self.paired)
        return count >= PAIRED and self.agreement < BAD_ORDER * count * (count - 1) / 2

    def pair(self, here: float, above: float) -> None:
        """A candidate has scores at both rungs; the oldest one leaves when they are too many."""
        if len(self.paired) == LATEST:
            self.agreement -= self._agreement_with(*self.paired.popleft())
        self.agreement += self._agreement_with(here, above)
        self.paired.append((here, above))

    def _agreement_with(self, here: float, above: float) -> int:
        products = [(here - x) * (above - y) for x, y in self.paired]
        return sum(one > 0 for one in products) - sum(one < 0 for one in products)


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
        if rung is not self.rungs[0]:
            self._compare(candidate, rung)
        if rung in self._next:
            insort(step.coarse if coarse and rung is self.rungs[0] else step.waiting, key)

    def score(self, candidate: str, rung: Rung) -> Score | None:
        """What a candidate scored at a rung, if it passed there."""
        return self._steps[rung].scores.get(candidate)

    def leaders(self) -> Iterator[str]:
        """Candidates that passed the last rung, best first."""
        return self.passed(self.rungs[-1])

    def passed(self, rung: Rung) -> Iterator[str]:
        """Candidates that passed a timed rung, best first; nobody has passed another here."""
        return (candidate for _, candidate in self._steps.get(rung, _Step()).ranked)

    def best_rung(self) -> Rung:
        """The highest rung that somebody passed; draft if nobody passed any."""
        passed = [rung for rung in self.rungs if self._steps[rung].scores]
        return passed[-1] if passed else Rung.DRAFT

    def promotable(self) -> tuple[str, Rung] | None:
        """Who goes up by the rule, and to which rung; the highest rung first."""
        for rung in reversed(self.rungs[:-1]):
            step = self._steps[rung]
            self._set_aside(rung)
            quota = int(step.seen / (LENIENT_ETA if step.orders_badly() else self.eta))
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
        step = self._steps[rung]
        champion = step.scores.get(self.champion)
        if champion is None or candidate == self.champion:
            return False
        if rung is self.rungs[0] and len(self.rungs) > 1 and step.orders_badly():
            return False
        return step.scores[candidate].high < champion.low

    def _set_aside(self, rung: Rung) -> None:
        """Take barred candidates off the front, so that nobody looks at them again and again."""
        step = self._steps[rung]
        while step.waiting and self.barred(step.waiting[0][1], rung):
            key = step.waiting.pop(0)
            step.aside.append(key)

    def _take_back(self) -> None:
        """Another champion, or none, bars others."""
        for step in self._steps.values():
            for key in step.aside:
                insort(step.waiting, key)
            step.aside.clear()

    def _compare(self, candidate: str, rung: Rung) -> None:
        """Count how the rung below ordered a candidate against others scored at both rungs."""
        here, below = self._steps[rung], self._steps[self.rungs[self.rungs.index(rung) - 1]]
        if candidate not in below.scores:
            return
        was_bad = below.orders_badly()
        below.pair(below.scores[candidate].value, here.scores[candidate].value)
        if was_bad != below.orders_badly():
            self._take_back()

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
