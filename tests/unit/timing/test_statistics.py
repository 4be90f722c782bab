import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.records.outcome import Decision
from kernelwright.timing.statistics import (
    Interval,
    Noise,
    bootstrap_median,
    decide,
    place_interval,
    summarize,
)


def test_the_interval_covers_the_true_median_about_as_often_as_it_says():
    random = np.random.default_rng(5)
    trials, misses = 400, 0
    for trial in range(trials):
        found = bootstrap_median(random.standard_normal(30), level=0.95, seed=trial)
        misses += not found.low <= 0 <= found.high
    assert 2 <= misses <= 40  # 5 % of 400 is 20; a bootstrap of 30 points is a little narrow


def test_the_same_seed_gives_the_same_interval():
    samples = np.random.default_rng(1).standard_normal(50)
    assert bootstrap_median(samples, seed=3) == bootstrap_median(samples, seed=3)
    assert bootstrap_median(samples, seed=3) != bootstrap_median(samples, seed=4)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=60), st.floats(-0.5, 0.5))
def test_shifting_the_samples_shifts_the_interval(samples, shift):
    one = bootstrap_median(samples, seed=1)
    other = bootstrap_median(np.asarray(samples) + shift, seed=1)
    assert other.low == pytest.approx(one.low + shift, abs=1e-9)
    assert other.high == pytest.approx(one.high + shift, abs=1e-9)


@pytest.mark.parametrize("samples", [[], [1.0], [1.0, float("nan")], [1.0, float("inf")]])
def test_too_few_or_broken_samples_are_refused(samples):
    with pytest.raises(ValueError, match="at least two finite"):
        bootstrap_median(samples)


@pytest.mark.parametrize(
    ("low", "high", "decision"),
    [
        (0.02, 0.05, Decision.FASTER),
        (0.005, 0.05, Decision.UNDECIDED),
        (-0.05, -0.02, Decision.SLOWER),
        (-0.005, 0.009, Decision.SAME),
        (-0.02, 0.02, Decision.UNDECIDED),
    ],
)
def test_a_decision_needs_the_whole_interval_beyond_the_margin(low, high, decision):
    assert decide(Interval((low + high) / 2, low, high), margin=0.01) is decision


def test_a_machine_that_cannot_tell_them_apart_does_not_show_that_they_are_the_same():
    assert decide(Interval(0.0, -0.2, 0.3), margin=0.87) is Decision.UNDECIDED
    assert decide(Interval(0.0, -0.05, 0.05), margin=0.87) is Decision.SAME


def test_the_margin_shrinks_with_pairs_but_not_below_what_differs_between_processes():
    noise = Noise(half_width=0.04, pairs=30, between=0.015)
    assert noise.margin(30) == pytest.approx(np.expm1(0.04))
    assert noise.margin(120) == pytest.approx(np.expm1(0.02))
    assert noise.margin(10_000) == pytest.approx(np.expm1(0.015))
    assert noise.margin(10_000, placements=9) == pytest.approx(0.01)
    assert Noise(half_width=0.001, pairs=30, between=0.0).margin(30) == 0.01


def test_the_louder_of_two_kernels_sets_the_margin_whoever_is_named_first():
    one = Noise(half_width=0.04, pairs=10, between=0.005)
    other = Noise(half_width=0.03, pairs=40, between=0.06)
    for pairs in (10, 30, 300):
        for placements in (1, 8):
            margin = one.joined(other).margin(pairs, placements)
            assert margin == pytest.approx(other.joined(one).margin(pairs, placements))
            apart = (one.margin(pairs, placements), other.margin(pairs, placements))
            assert margin == pytest.approx(max(apart))


def test_a_summary_names_the_quantiles():
    times = summarize([5.0, 1.0, 2.0, 3.0, 4.0], discarded=2)
    assert (times.min, times.median, times.n, times.discarded) == (1.0, 3.0, 5, 2)
    assert times.p20 < times.median < times.p80


@pytest.mark.parametrize("places", [2, 4, 8])
def test_an_interval_over_places_covers_as_often_as_it_says(places):
    random = np.random.default_rng(places)
    trials, misses = 1000, 0
    groups = np.repeat(np.arange(places), 8)
    for _ in range(trials):
        centres = 0.03 * random.standard_normal(places)
        samples = centres[groups] + 0.01 * random.standard_normal(len(groups))
        found = place_interval(samples, groups, 0.95)
        misses += not found.low <= 0 <= found.high
    assert 25 <= misses <= 75  # 5 % of 1000 is 50; three deviations are 21
