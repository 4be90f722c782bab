"""Greedy: everybody in proportion to how good it is, in an order that is kept, not made."""

import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.records.rung import Rung
from kernelwright.search.parents import Greedy
from kernelwright.search.parents.greedy import POWER
from kernelwright.testing.simulated import made_up_candidates


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


class Straightforward:
    """Greedy as its first paragraph says it: everything computed anew at every ask."""

    def __init__(self):
        self.looks, self.structures, self.uses = [], {}, Counter()

    def tell(self, candidate, rung, score):
        if rung >= Rung.SCREEN:
            self.structures[candidate.id] = candidate.source
            self.looks.append((candidate, rung, score))

    def used(self, parent):
        if parent in self.structures:
            self.uses[self.structures[parent]] += 1

    def order(self):
        if not self.looks:
            return []
        common = min(rung for _, rung, _ in self.looks)
        goods, reached, best = {}, {}, {}
        for one, rung, score in self.looks:
            if rung == common:
                goods[one.source] = max(score, goods.get(one.source, -math.inf))
            if one.source not in reached or (rung, score) > reached[one.source]:
                reached[one.source], best[one.source] = (rung, score), one
        top = max(goods.values())

        def behind(source):
            share = math.exp(POWER * (goods[source] - top)) if source in goods else 0.0
            return (self.uses[source] + 1) / max(share, 1e-9), best[source].id

        return [best[source] for source in sorted(best, key=behind)]


PEOPLE = [
    make_candidate(one.source, "cpp", {"BLOCK": block, "UNROLL": 1})
    for one in made_up_candidates(5)
    for block in (1, 2, 4)
]
CALLS = st.one_of(
    st.tuples(
        st.sampled_from(PEOPLE),
        st.sampled_from(list(Rung)[1:]),
        st.one_of(st.floats(-3, 3), st.sampled_from([0.0, 0.5])),
    ),
    st.tuples(st.sampled_from(PEOPLE), st.integers(1, 3)),
)


@given(st.lists(CALLS, max_size=60))
def test_the_order_that_is_kept_is_the_one_that_would_be_made(calls):
    kept, plain = Greedy(), Straightforward()
    for one, *look in calls:
        for rule in (kept, plain):
            if len(look) == 2:
                rule.tell(one, *look)
            else:
                for _ in range(look[0]):
                    rule.used(one.id)
        assert list(kept.order()) == plain.order()
