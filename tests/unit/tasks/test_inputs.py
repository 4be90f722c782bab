"""Inputs stay in their declared range, whatever is done to them, and change when they must."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.records.task import DTYPES, Case, Shaped, Values
from kernelwright.tasks import hostile, inputs

LABELS = Values(kind="integers", low=2, high=9)
BOUNDED = Values(kind="uniform", low=-0.5, high=2.0)
GIVEN = Values(kind="given")


def case_of(*items):
    return Case(workload="w", device="cpu", inputs=items, outputs=(), scalars=(), axes={})


def item_of(name="x", shape=(40, 30), dtype="float32", **values):
    return Shaped(name=name, shape=shape, dtype=dtype, values=Values(**values))


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, name) if "8" in name or name == "bfloat16" else name)


def empty(case):
    return {one.name: np.zeros(one.shape, dtype_of(one.dtype)) for one in case.inputs}


def drawn(case, seed):
    views = empty(case)
    inputs.draw(case, seed, views)
    return views


def test_a_seed_fixes_contents_and_moves_scale_and_offset():
    case = case_of(item_of(shape=(4000,), mean=1.0, std=2.0), item_of("z", shape=(4000,)))
    first, again = drawn(case, 7), drawn(case, 7)
    assert np.array_equal(first["x"], again["x"])
    assert not np.array_equal(first["x"], first["z"])
    scales = [float(drawn(case, seed)["x"].std()) for seed in range(30)]
    means = [float(drawn(case, seed)["x"].mean()) for seed in range(30)]
    assert 1.4 < min(scales) < 1.7 < 2.3 < max(scales) < 2.6
    assert 0.4 < min(means) < 0.8 < 1.2 < max(means) < 1.6


@given(st.integers(0, 2**64 - 1))
def test_ranges_are_kept(seed):
    case = case_of(
        Shaped(name="u", shape=(200,), dtype="float16", values=BOUNDED),
        Shaped(name="i", shape=(200,), dtype="int64", values=LABELS),
        Shaped(name="b", shape=(200,), dtype="bool"),
    )
    views = drawn(case, seed)
    for kind in (None, *hostile.kinds(case)):
        if kind is not None:
            hostile.draw(case, kind, seed, views)
        assert views["u"].min() >= -0.5
        assert views["u"].max() <= 2.0
        assert views["i"].min() >= 2
        assert views["i"].max() <= 8
        assert np.isfinite(views["u"]).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_can_be_drawn_and_made_hostile(dtype):
    item = item_of(dtype=dtype, shape=(70, 130), std=3.0)
    case = case_of(item)
    views = drawn(case, 1)
    assert len(np.unique(views["x"].astype(np.float64))) > 1
    for kind in hostile.kinds(case):
        hostile.draw(case, kind, 3, views)


def harmed(case, kind, seed=3):
    views = drawn(case, 1)
    hostile.draw(case, kind, seed, views)
    return views


def test_hostile_kinds_are_what_they_are_called():
    case = case_of(item_of(), item_of("w", shape=(30,)))
    assert hostile.kinds(case) == hostile.KINDS
    assert np.exp(harmed(case, "large")["x"].astype(np.float64)).max() > 3.4e38
    tiny = np.abs(harmed(case, "tiny")["x"])
    smallest = np.finfo(np.float32).tiny
    assert (tiny < smallest).any()
    assert (tiny > 0).all()
    assert len(np.unique(harmed(case, "constant")["x"])) == 1
    whole = harmed(case, "integers")
    assert set(np.unique(whole["x"])) == set(range(-3, 4))
    assert np.array_equal(whole["w"], np.rint(whole["w"]))
    rows = harmed(case, "cancelling")["x"].astype(np.float64)
    assert np.abs(rows.sum(axis=1)).max() < 0.05
    assert rows.std() > 0.8
    assert np.abs(np.cumsum(rows, axis=1)).max() > 1
    offset = harmed(case, "offset")["x"]
    assert abs(offset.mean()) > 900
    assert offset.std() < 2
    for kind, seen in (
        ("positive_infinity", np.isposinf),
        ("negative_infinity", np.isneginf),
        ("nan", np.isnan),
    ):
        views = harmed(case, kind)
        assert 1 <= seen(views["x"]).sum() <= 8
        assert np.isfinite(views["w"]).all()
        assert not np.array_equal(seen(views["x"]), seen(harmed(case, kind, 4)["x"]))


@pytest.mark.parametrize(
    ("dtype", "least", "most"),
    [("float32", 192, 256), ("float16", 96, 128), ("float64", 768, 1024), ("float8_e5m2", 24, 32)],
)
def test_outliers_are_lone_and_the_rows_around_them_ordinary(dtype, least, most):
    case = case_of(item_of(dtype=dtype, shape=(400, 300)), item_of("w", shape=(300,)))
    views = harmed(case, "outliers")
    rows = views["x"].astype(np.float64)
    aside = np.abs(np.median(rows, axis=1)) > 16
    assert aside.sum() == (0 if "8" in dtype else 1)
    lone = np.abs(rows[~aside]) > 20
    among = lone.sum(axis=1)
    assert set(among) == {0, 1, 2}
    assert 0.4 < (among > 0).mean() < 0.6
    assert least <= np.abs(rows[~aside][lone]).min()
    assert np.abs(rows[~aside][lone]).max() <= most
    assert (rows[~aside].max(axis=1)[among > 0] >= least).all()
    assert 0.7 < rows[~aside][~lone].std() < 1.3
    assert np.abs(views["w"].astype(np.float64)).max() < 10
    other = np.abs(harmed(case, "outliers", 4)["x"].astype(np.float64)[~aside]) > 20
    assert not np.array_equal(lone, other)


@pytest.mark.parametrize("shape", [(), (1,), (9,), (1, 1), (3, 5), (2, 3, 4)])
def test_a_tensor_of_few_rows_has_an_outlier_too(shape):
    views = harmed(case_of(item_of(shape=shape)), "outliers")
    assert views["x"].max() >= 192
    assert np.isfinite(views["x"]).all()


def test_integers_stay_within_a_range_and_need_two_values():
    case = case_of(Shaped(name="u", shape=(90,), dtype="float32", values=BOUNDED), item_of())
    assert set(np.unique(harmed(case, "integers")["u"])) == {0, 1, 2}
    narrow = Values(kind="uniform", low=0.1, high=1.5)
    for odd in (narrow, GIVEN):
        case = case_of(item_of(), Shaped(name="u", shape=(9,), dtype="float32", values=odd))
        assert "integers" not in hostile.kinds(case)
    assert "integers" not in hostile.kinds(case_of(item_of(dtype="int64", kind="integers")))


def test_a_large_half_overflows_an_exponential_but_not_a_sum():
    wide = harmed(case_of(item_of(dtype="float16")), "large")["x"].astype(np.float64)
    assert np.exp(wide).max() > 65504
    assert np.abs(wide).max() < 100


def test_given_tensors_keep_to_their_own_values():
    case = case_of(
        Shaped(name="p", shape=(50,), dtype="float32", values=GIVEN),
        Shaped(name="i", shape=(50,), dtype="int64", values=GIVEN),
    )
    assert hostile.kinds(case) == ("large", "constant")
    before = np.random.default_rng(0).uniform(1, 2, 50).astype(np.float32)
    for kind, least in (("large", 0.45), ("constant", 0.0)):
        views = {"p": before.copy(), "i": np.arange(50)}
        hostile.draw(case, kind, 1, views)
        assert views["p"].min() >= 1
        assert views["p"].max() <= 2
        assert np.abs(views["p"] - 1.5).min() >= least
        assert (views["p"] != before).mean() > 0.9
        assert np.array_equal(views["i"], np.arange(50))


def harmed_given(kind, before):
    item = Shaped(name="p", shape=before.shape, dtype=before.dtype.name, values=GIVEN)
    views = {"p": before.copy()}
    hostile.draw(case_of(item), kind, 1, views)
    return views["p"]


RANDOM = np.random.default_rng(3)
MASK = np.triu(np.full((70, 70), -np.inf, np.float32), 1)
ROWS = RANDOM.random((40, 90), dtype=np.float32)


@pytest.mark.parametrize("kind", ["large", "constant"])
@pytest.mark.parametrize(
    "before",
    [
        np.tril(np.ones((70, 70), np.float32)),
        (RANDOM.random((40, 90)) < 0.5).astype(ml_dtypes.bfloat16),
        MASK,
        MASK + np.tril(RANDOM.standard_normal((70, 70), dtype=np.float32)),
        np.sort(ROWS, axis=1),
        ROWS / ROWS.sum(axis=1, keepdims=True),
        np.triu(ROWS[:, :40], 1) - np.triu(ROWS[:, :40], 1).T,
    ],
    ids=["causal", "bits", "additive", "biased", "ascending", "normalised", "opposite"],
)
def test_hostile_values_leave_codes_and_structures_alone(kind, before):
    assert np.array_equal(harmed_given(kind, before), before)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("kind", ["large", "constant"])
def test_hostile_values_keep_zeros_and_symmetry(kind, dtype):
    square = RANDOM.uniform(1, 2, (60, 60)).astype(dtype_of(dtype))
    for part in (np.tril(square), np.triu(square)):
        view = harmed_given(kind, part)
        assert np.array_equal(view == 0, part == 0)
        assert (view != part)[part != 0].mean() > 0.8
        assert view[view != 0].astype(np.float64).min() >= 1
    both = np.tril(square) + np.tril(square, -1).T
    view = harmed_given(kind, both)
    assert np.array_equal(view, view.T)
    assert (view != both).mean() > 0.8


def test_large_values_of_a_bounded_input_lie_near_its_ends_and_are_many():
    item = Shaped(name="u", shape=(4000,), dtype="float32", values=BOUNDED)
    views = harmed(case_of(item, item_of()), "large")
    share = (views["u"] + 0.5) / 2.5
    assert ((share <= hostile.NEAR_END) | (share >= 1 - hostile.NEAR_END)).all()
    assert len(np.unique(views["u"])) > 1000
    assert {-0.5, 2.0} <= set(views["u"].tolist())
