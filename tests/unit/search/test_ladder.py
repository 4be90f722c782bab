"""Promotion: the rule, nobody starves, nobody barred goes up, arrival order does not matter."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.records.rung import Rung
from kernelwright.search import ladder as rules
from kernelwright.search.ladder import Ladder
from kernelwright.search.score import Score

RUNGS = (Rung.SMOKE, Rung.SCREEN, Rung.FULL)
logs = st.one_of(st.none(), st.floats(-1, 1, allow_nan=False))
populations = st.lists(logs, min_size=1, max_size=40)


def score(low, width=0.05):
    return None if low is None else Score(low, low, low + width, math.exp(low))


def ladder(values, eta=3, coarse=()):
    made = Ladder(RUNGS, eta)
    for at, low in enumerate(values):
        made.add(f"c{at:03}", Rung.SMOKE, score(low), coarse=at in coarse)
    return made


def drain(made):
    """Everybody who goes up by the rule, in order."""
    up = []
    while (found := made.promotable()) is not None:
        made.promote(*found)
        up.append(found[0])
    return up


@given(populations)
def test_exactly_the_top_third_goes_up(values):
    ranked = sorted((-low, f"c{at:03}") for at, low in enumerate(values) if low is not None)
    assert drain(ladder(values)) == [name for _, name in ranked[: len(values) // 3]]


@given(populations, st.randoms(use_true_random=False))
def test_the_order_of_arrival_changes_nothing(values, chance):
    names = list(range(len(values)))
    chance.shuffle(names)
    made = Ladder(RUNGS, 3)
    for at in names:
        made.add(f"c{at:03}", Rung.SMOKE, score(values[at]), coarse=False)
    assert drain(made) == drain(ladder(values))


@given(populations)
def test_who_went_up_early_stays_within_the_rule(values):
    """Promoting after every arrival sends up a superset of promoting at the end."""
    made, early = Ladder(RUNGS, 3), []
    for at, low in enumerate(values):
        made.add(f"c{at:03}", Rung.SMOKE, score(low), coarse=False)
        early += drain(made)
    assert set(drain(ladder(values))) <= set(early)
    assert len(early) == len(set(early))


@given(populations)
def test_nobody_starves_when_the_device_would_idle(values):
    made = ladder(values)
    up = []
    while (found := made.promotable() or made.otherwise_idle(only_hopeful=False)) is not None:
        made.promote(*found)
        up.append(found[0])
    assert sorted(up) == [f"c{at:03}" for at, low in enumerate(values) if low is not None]


@given(populations, st.floats(-1, 1), st.integers(0, 39))
def test_nobody_under_the_champion_goes_up(values, height, coarse):
    made = ladder(values, coarse=(coarse,))
    for rung in RUNGS:
        made.add("champion", rung, score(height), coarse=False)
    made.promote("champion", Rung.SCREEN)
    made.promote("champion", Rung.FULL)
    made.champion = "champion"
    up = drain(made)
    while (found := made.otherwise_idle(only_hopeful=False)) is not None:
        made.promote(*found)
        up.append(found[0])
    under = {f"c{at:03}" for at, low in enumerate(values) if low is None or low + 0.05 < height}
    everybody = {f"c{at:03}" for at in range(len(values))}
    # A structure is not judged by the first rung, unless it failed there.
    passed = {f"c{at:03}" for at, low in enumerate(values) if low is not None}
    assert set(up) == everybody - (under - ({f"c{coarse:03}"} & passed))
    made.champion = ""
    while (found := made.otherwise_idle(only_hopeful=False)) is not None:
        made.promote(*found)
        up.append(found[0])
    assert set(up) == {f"c{at:03}" for at, low in enumerate(values) if low is not None}


def test_a_structure_needs_no_third():
    made = ladder([0.5, 0.4, 0.3, 0.2], coarse=(3,))
    assert drain(made) == ["c000", "c003"]


def test_the_highest_rung_comes_first():
    made = ladder([0.1, 0.2, 0.3])
    for at in range(3):
        made.add(f"d{at}", Rung.SCREEN, score(at / 10), coarse=False)
    assert made.promotable() == ("d2", Rung.FULL)


def test_idling_prefers_the_lowest_rung_and_may_ask_for_hope():
    made = ladder([0.1])
    made.add("d", Rung.SCREEN, score(0.2), coarse=False)
    assert made.otherwise_idle(only_hopeful=False) == ("c000", Rung.SCREEN)
    for rung in RUNGS:
        made.add("champion", rung, score(0.12), coarse=False)
    made.promote("champion", Rung.SCREEN)
    made.promote("champion", Rung.FULL)
    made.champion = "champion"
    # c000 is not barred, but scored below the champion; d scored above it.
    assert made.otherwise_idle(only_hopeful=True) == ("d", Rung.FULL)


def two_rungs(below, above):
    """Everybody scored at both rungs, as if all had gone up."""
    made = Ladder(RUNGS, 3)
    for at, (low, high) in enumerate(zip(below, above, strict=True)):
        made.add(f"s{at}", Rung.SMOKE, score(low), coarse=False)
        made.promote(f"s{at}", Rung.SCREEN)
        made.add(f"s{at}", Rung.SCREEN, score(high), coarse=False)
    return made


def test_a_rung_that_orders_badly_is_lenient():
    rising, falling = [0.1 * at for at in range(6)], [-0.1 * at for at in range(6)]
    for above, expected in ((rising, 4), (falling, 6)):
        made = two_rungs(rising, above)
        for at in range(6):
            made.add(f"t{at}", Rung.SMOKE, score(1 + at / 10), coarse=False)
        up = [one for one in drain(made) if one.startswith("t")]
        # 12 were seen: a third is 4, two thirds are 8, more than there are.
        assert len(up) == expected


def test_five_candidates_prove_no_disorder():
    made = two_rungs([0.1 * at for at in range(5)], [-0.1 * at for at in range(5)])
    for at in range(4):
        made.add(f"t{at}", Rung.SMOKE, score(1 + at / 10), coarse=False)
    assert len([one for one in drain(made) if one.startswith("t")]) == 3


def test_a_first_rung_that_orders_badly_bars_nobody():
    rising, falling = [0.1 * at for at in range(6)], [-0.1 * at for at in range(6)]
    for above, barred in ((rising, True), (falling, False)):
        made = two_rungs(rising, above)
        made.add("low", Rung.SMOKE, score(-1.0), coarse=False)
        made.champion = "s3"
        assert made.barred("low", Rung.SMOKE) is barred
        assert (made.otherwise_idle(only_hopeful=False) == ("low", Rung.SCREEN)) is not barred


def tau(below, above):
    """Kendall's, the slow way: ties count for neither side."""
    pairs = [(a, b) for a in range(len(below)) for b in range(a)]
    signs = [(below[a] - below[b]) * (above[a] - above[b]) for a, b in pairs]
    return sum((sign > 0) - (sign < 0) for sign in signs) / len(pairs)


@given(st.permutations(range(8)), st.permutations(range(8)))
def test_agreement_is_kendalls_tau(below, above):
    made = two_rungs([float(low) for low in below], [float(high) for high in above])
    assert made._steps[Rung.SMOKE].orders_badly() is (tau(below, above) < 0.3)


few = st.integers(-3, 3).map(float)


@given(st.lists(st.tuples(few, few), min_size=6, max_size=40), st.integers(6, 12))
def test_only_the_latest_pairs_count(pairs, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "LATEST", most)
        made = two_rungs(*zip(*pairs, strict=True))
    latest = pairs[-most:]
    assert made._steps[Rung.SMOKE].orders_badly() is (tau(*zip(*latest, strict=True)) < 0.3)


def test_a_rung_that_has_come_to_order_well_is_strict_again():
    falling = [(0.001 * at, -0.001 * at) for at in range(200)]
    rising = [(0.001 * at, 0.001 * at) for at in range(200)]
    assert two_rungs(*zip(*falling, strict=True))._steps[Rung.SMOKE].orders_badly()
    made = two_rungs(*zip(*falling, *rising, strict=True))
    assert not made._steps[Rung.SMOKE].orders_badly()
