"""Greedy: everybody in proportion to how good it is, and the contract of every rule."""

import math
from collections import Counter

from kernelwright.records.rung import Rung
from kernelwright.search.parents import Greedy
from kernelwright.search.parents.greedy import POWER
from kernelwright.testing.parents import ParentsContract
from kernelwright.testing.simulated import made_up_candidates


class TestGreedy(ParentsContract):
    def make(self, seed):
        return Greedy(seed)


def test_mutations_follow_the_speedups():
    people = made_up_candidates(3)
    rule, speedups = Greedy(), (2.0, 1.6, 1.0)
    for one, speedup in zip(people, speedups, strict=True):
        rule.tell(one, Rung.SCREEN, math.log(speedup))
    chosen: Counter[str] = Counter()
    for _ in range(600):
        parent = rule.order()[0]
        chosen[parent.id] += 1
        rule.used(parent.id)
    shares = [speedup**POWER for speedup in speedups]
    for one, share in zip(people, shares, strict=True):
        assert abs(chosen[one.id] - 600 * share / sum(shares)) <= 2


def test_a_smoke_look_makes_no_parent_and_a_dearer_one_is_compared_with_its_like():
    first, second = made_up_candidates(2)
    rule = Greedy()
    rule.tell(first, Rung.SMOKE, 5.0)
    assert rule.order() == ()
    rule.tell(first, Rung.SCREEN, 0.2)
    rule.tell(second, Rung.SCREEN, 0.5)
    # The full rung times other workloads: its number must not lift the first above the second.
    rule.tell(first, Rung.FULL, 3.0)
    assert rule.order()[0] == second
