import numpy as np
import pytest

from kernelwright.checks import controls
from kernelwright.checks.answer import make_answer

F32 = np.dtype("float32")


def answer(truth, dtype=F32):
    truth = np.array(truth)
    return make_answer("y", truth, dtype, (truth.astype(dtype),))


def stand_ins(right, contents=None, bits=10):
    random = np.random.default_rng(1)
    return {
        name: values for name, _, values in controls.stand_ins(right, contents or {}, bits, random)
    }


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def test_every_control_of_an_ordinary_output_is_wrong():
    right = answer(normal(12, 30))
    found = stand_ins(right, {"x": normal(12, 30, seed=2).astype(F32)})
    assert set(found) == set(controls.OF_OUTPUTS) - {"another_seed"}
    assert not any(controls.is_right(values, right) for values in found.values())
    assert all(values.shape == (12, 30) for values in found.values())
    assert not found["zeros"].any()
    assert np.unique(found["mean"]).tolist() == [pytest.approx(right.truth.mean())]
    assert sorted(map(tuple, found["rows_permuted"])) == sorted(map(tuple, right.truth))
    assert np.array_equal(np.sort(found["columns_permuted"], 1), np.sort(right.truth, 1))
    blank = found["last_tile"] != right.truth
    assert blank.reshape(-1)[-6:].all()
    assert blank.sum() == 6
    assert (found["last_row"][-1] == 0).all()
    assert np.array_equal(found["last_row"][:-1], right.truth[:-1])


def test_what_is_no_control_for_a_shape_is_left_out():
    assert set(stand_ins(answer(normal(5)))) == {
        "zeros", "mean", "rows_permuted", "last_tile", "rounded",
    }  # fmt: skip
    assert set(stand_ins(answer(np.array(1.5)))) == {"zeros", "mean", "rounded"}
    other = {"wide": normal(5), "short": normal(4).astype(F32), "x": normal(5).astype(F32)}
    assert stand_ins(answer(normal(5)), other)["pass_through"] is other["x"]


@pytest.mark.parametrize(
    ("truth", "right"),
    [
        (np.full((4, 6), 1 / 3), {"mean", "rows_permuted", "columns_permuted"}),
        (np.zeros((4, 6)), {"zeros", "mean", "rows_permuted", "columns_permuted", "last_tile",
                            "last_row", "rounded"}),
        (np.tile(normal(6), (4, 1)), {"rows_permuted"}),
        (np.arange(24.0).reshape(4, 6), {"rounded"}),
    ],
)  # fmt: skip
def test_what_is_right_is_decided_exactly(truth, right):
    mine = answer(truth)
    # The float64 evaluation's own rounding does not make an answer wrong.
    noisy = {
        name: values * (1 + 1e-15) for name, values in stand_ins(mine, bits=10).items()
    }  # fmt: skip
    noisy = {name: rows for name, rows in noisy.items() if name != "rounded" or truth.size >= 64}
    expected = right - {"rounded"} if truth.size < 64 else right
    assert {name for name, values in noisy.items() if controls.is_right(values, mine)} == expected


def test_a_difference_below_the_tolerance_is_still_wrong():
    truth = normal(100)
    assert not controls.is_right(truth + 1e-9, answer(truth))


def test_integers_and_truth_values():
    labels = answer(np.arange(12).reshape(3, 4) % 5, np.dtype("int64"))
    found = stand_ins(labels, bits=None)
    assert "rounded" not in found
    assert found["mean"].dtype == np.int64
    assert not any(controls.is_right(values, labels) for values in found.values())
    yes = answer(np.array([True, True, False]), np.dtype("bool"))
    assert stand_ins(yes, bits=None)["mean"].tolist() == [True, True, True]


def test_infinities_stay_where_they_are():
    truth = normal(10, 10)
    truth[2, 3] = -np.inf
    mine = answer(truth)
    assert controls.is_right(truth, mine)
    assert np.isfinite(stand_ins(mine)["mean"]).all()
    assert not controls.is_right(np.where(np.isinf(truth), 0, truth), mine)
    assert controls.moved(mine, 1.0) is not None
    assert controls.moved(answer(np.full(3, np.nan)), 1.0) is None
    assert controls.moved(answer(np.array(2.0)), 1.0) == 3.0


def test_a_fixed_pattern_is_told_from_a_sparse_input():
    random = np.random.default_rng(0)
    diagonal = [np.diag(random.random(50)) for _ in range(3)]
    assert controls.fixed_share(*diagonal) == pytest.approx(0.98)
    sparse = [np.where(random.random((50, 50)) < 0.02, random.random((50, 50)), 0) for _ in "abc"]
    assert controls.fixed_share(*sparse) == 0
    whole = [random.random((50, 50)) for _ in "abc"]
    assert controls.fixed_share(*whole) == 0
    assert controls.fixed_share(*[np.ones(4)] * 3) == 1
