"""The contract of a rule that chooses parents: inherit, say how yours is made, run pytest.

::

    class TestMine(ParentsContract):
        def make(self, seed):
            return Mine(seed)
"""

import random

from kernelwright.records.candidate import Candidate
from kernelwright.records.rung import Rung
from kernelwright.search.parents.base import Parents
from kernelwright.testing.simulated import made_up_candidates


class ParentsContract:
    """What the search relies on."""

    def make(self, seed: int) -> Parents:
        """A fresh rule of the kind under test."""
        raise NotImplementedError

    def test_without_a_look_there_is_no_parent(self) -> None:
        """Nobody deserves to be mutated before a look was told."""
        assert list(self.make(0).order()) == []

    def test_parents_are_candidates_that_were_told(self) -> None:
        """An order holds told candidates only, none twice, and is never empty after a full look."""
        rule, told = self.make(0), made_up_candidates(4)
        for at, one in enumerate(told):
            rule.tell(one, Rung.SCREEN, at / 10)
            rule.tell(one, Rung.FULL, at / 10)
        ids = [one.id for one in rule.order()]
        assert ids
        assert len(ids) == len(set(ids))
        assert set(ids) <= {one.id for one in told}

    def test_asking_changes_nothing(self) -> None:
        """Two orders in a row are the same: only tell and used move a rule."""
        rule = self.make(3)
        for one in made_up_candidates(3):
            rule.tell(one, Rung.FULL, 0.1)
        assert [one.id for one in rule.order()] == [one.id for one in rule.order()]

    def test_the_same_calls_give_the_same_parents(self) -> None:
        """Replaying a run gives the same choices."""
        assert self.act(5) == self.act(5)

    def act(self, seed: int) -> list[str]:
        """Whom it would mutate in the course of a made-up run."""
        rule, chance = self.make(seed), random.Random(seed)
        people: list[Candidate] = made_up_candidates(6)
        chosen = []
        for _ in range(50):
            rung = chance.choice([Rung.SMOKE, Rung.SCREEN, Rung.FULL])
            rule.tell(chance.choice(people), rung, chance.gauss(0, 0.3))
            order = rule.order()
            if order:
                chosen.append(order[0].id)
                rule.used(order[0].id)
        assert chosen, "it never chose anybody"
        return chosen
