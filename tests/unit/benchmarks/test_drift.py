"""The judge's way to decide, on made-up machines whose truth is known."""

import pytest

from benchmarks.truths import drift
from scripts.rawdata import clopper_pearson


@pytest.mark.parametrize("weather", ["calm", "usual"])
def test_the_interval_holds_the_truth_as_often_as_it_says(weather):
    seen = drift.simulated(1.05, 200, 3, drift.WEATHERS[weather])
    # 98.75 % are promised of each look; the allowance is that of 200 trials.
    low, high = clopper_pearson(seen.covered, seen.comparisons)
    assert high >= 0.9875
    assert low > 0.9


def test_a_kernel_is_hardly_ever_called_faster_than_itself():
    seen = drift.simulated(1.0, 200, 5)
    low, _ = clopper_pearson(seen.faster + seen.slower, seen.comparisons)
    assert low < 0.05


def test_a_difference_beyond_the_margin_is_found_and_never_turned_round():
    seen = drift.simulated(1.1, 60, 7, drift.CALM)
    assert seen.faster > 50
    assert seen.slower == 0
    assert drift.simulated(1 / 1.1, 60, 7, drift.CALM).slower > 50


def test_without_a_margin_luck_of_a_place_would_be_sold(monkeypatch):
    quiet = drift.Noise(half_width=0.0, pairs=20, between=0.0)
    unlucky = drift.Weather(place=0.05, burst_share=0.0, block=0.002, drift=0.0)
    careful = drift.simulated(1.0, 60, 9, unlucky, placements=1)
    monkeypatch.setattr(drift, "noise_of", lambda machine: quiet)
    careless = drift.simulated(1.0, 60, 9, unlucky, placements=1)
    assert careless.faster + careless.slower > 30
    assert careful.faster + careful.slower < careless.faster + careless.slower


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [
        (0, 300, 0.0, 0.0122),
        (3, 300, 0.0021, 0.0290),
        (10, 10, 0.6915, 1.0),
        (1, 2, 0.0126, 0.9874),
    ],
)
def test_an_exact_interval_of_a_share(hits, trials, low, high):
    assert clopper_pearson(hits, trials) == pytest.approx((low, high), abs=1e-4)
