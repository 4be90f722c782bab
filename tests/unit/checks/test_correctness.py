import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.checks.correctness import judge, make_answer
from kernelwright.checks.distance import measure, ulp
from kernelwright.records.outcome import Outcome

F32 = np.dtype("float32")


def answer(truth, honest_error=1e-6, dtype=F32):
    truth = np.array(truth, dtype=np.float64)
    honest = truth.astype(dtype).astype(np.float64) + honest_error
    return make_answer("y", truth.copy(), dtype, (honest,))


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def test_the_answer_rounded_to_its_type_passes():
    truth = random(100, 1000)
    assert judge(truth.astype(F32), answer(truth), 4) is None


@given(st.integers(0, 99_999), st.sampled_from([-1, 1]))
def test_one_element_off_by_twice_the_tolerance_fails(index, sign):
    truth = random(100, 1000)
    right = answer(truth)
    got = truth.astype(F32)
    got.reshape(-1)[index] += sign * 2.5 * 4 * right.e0_largest
    found = judge(got, right, 4)
    assert found is not None
    assert found.outcome is Outcome.WRONG_VALUES
    assert found.evidence["at"] == [index // 1000, index % 1000]


def test_many_small_errors_fail_by_their_root_mean_square():
    truth = random(100, 1000)
    exact = truth.astype(F32).astype(np.float64)
    exact[0, 0] += 1e-3
    right = make_answer("y", truth.copy(), F32, (exact,))
    found = judge((truth + 2e-4).astype(F32), right, 4)
    assert found is not None
    assert found.evidence["largest_error"] < found.evidence["allowed"]
    assert found.evidence["rms_error"] > found.evidence["allowed_rms"]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_where_the_answer_is_fails(value):
    truth = random(10, 10)
    got = truth.astype(F32)
    got[3, 4] = value
    found = judge(got, answer(truth), 4)
    assert found is not None
    assert (found.outcome, found.evidence["at"]) == (Outcome.NOT_FINITE, [3, 4])


@pytest.mark.parametrize(("value", "other"), [(np.nan, np.inf), (np.inf, -np.inf), (np.inf, 1.0)])
def test_kinds_that_are_not_finite_must_agree(value, other):
    truth = random(10, 10)
    truth[2, 2] = value
    right = make_answer("y", truth.copy(), F32, (truth,))
    got = truth.astype(F32)
    assert judge(got, right, 4) is None
    got[2, 2] = other
    found = judge(got, right, 4)
    assert found is not None
    assert found.outcome is Outcome.WRONG_VALUES


def test_elements_never_written_are_counted():
    truth = random(10, 10)
    got = truth.astype(F32)
    got.view(np.uint8).reshape(10, 40)[7, :12] = 0xFF
    found = judge(got, answer(truth), 4, poison=0xFF)
    assert found is not None
    assert found.evidence["never_written"] == 3
    assert "never written" in found.reason


def test_shapes_are_compared_before_values():
    truth = np.ones((8, 8))
    found = judge(np.ones((1,), F32), answer(truth), 4)
    assert found is not None
    assert found.outcome is Outcome.WRONG_SHAPE


def test_integers_must_be_equal():
    right = make_answer("n", np.arange(12).reshape(3, 4), np.dtype("int64"))
    got = np.arange(12).reshape(3, 4)
    assert judge(got, right, 4) is None
    got = got.copy()
    got[1, 1] = 99
    found = judge(got, right, 4)
    assert found is not None
    assert (found.evidence["wrong"], found.evidence["at"]) == (1, [1, 1])


def test_an_answer_beyond_the_range_of_the_type_is_an_infinity():
    right = make_answer("y", np.array([1e39, 1.0]), F32)
    assert judge(np.array([np.inf, 1.0], F32), right, 4) is None
    assert judge(np.array([3e38, 1.0], F32), right, 4) is not None


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_the_spacing_is_numpys(dtype):
    for scale in (1.0, 1.5, 100.0, 0.3):
        assert ulp(scale, np.dtype(dtype)) == float(np.spacing(np.dtype(dtype).type(scale)))


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
def test_narrow_types_pass_when_rounded_and_fail_two_steps_away(dtype):
    dtype = np.dtype(dtype)
    truth = np.linspace(-2, 2, 1001)
    right = make_answer("y", truth.copy(), dtype, (truth.astype(dtype),))
    assert judge(truth.astype(dtype), right, 4) is None
    assert judge((truth + 5).astype(dtype), right, 4) is not None


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (40_000,)])
def test_every_shape_can_be_measured(shape):
    truth = random(*shape) if shape else np.array(1.25)
    errors = measure(np.asarray(truth, F32), np.asarray(truth))
    assert errors.misplaced == 0
    assert errors.largest <= 1e-6
    assert judge(np.asarray(truth, F32), answer(truth), 4) is None
