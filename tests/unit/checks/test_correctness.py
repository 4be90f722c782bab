from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kernelwright.checks.answer import make_answer
from kernelwright.checks.correctness import allowed, compare, judge
from kernelwright.checks.distance import measure, ulp
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Tolerance

F32 = np.dtype("float32")
RULE = Tolerance()


def answer(truth, honest_error=1e-6, dtype=F32):
    truth = np.array(truth, dtype=np.float64)
    honest = truth.astype(dtype).astype(np.float64) + honest_error
    return make_answer("y", truth.copy(), dtype, (honest,))


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def test_the_answer_rounded_to_its_type_passes():
    truth = random(100, 1000)
    assert judge(truth.astype(F32), answer(truth), RULE) is None


@given(st.integers(0, 99_999), st.sampled_from([-1, 1]))
def test_one_element_off_by_twice_the_tolerance_fails(index, sign):
    truth = random(100, 1000)
    right = answer(truth)
    got = truth.astype(F32)
    got.reshape(-1)[index] += sign * 2.5 * 4 * right.e0_largest
    found = judge(got, right, RULE)
    assert found is not None
    assert found.outcome is Outcome.WRONG_VALUES
    assert found.evidence["at"] == [index // 1000, index % 1000]


def test_many_small_errors_fail_by_their_root_mean_square():
    truth = random(100, 1000)
    exact = truth.astype(F32).astype(np.float64)
    exact[0, 0] += 1e-3
    right = make_answer("y", truth.copy(), F32, (exact,))
    found = judge((truth + 2e-4).astype(F32), right, RULE)
    assert found is not None
    assert found.evidence["largest_error"] < found.evidence["allowed"]
    assert found.evidence["rms_error"] > found.evidence["allowed_rms"]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_where_the_answer_is_fails(value):
    truth = random(10, 10)
    got = truth.astype(F32)
    got[3, 4] = value
    found = judge(got, answer(truth), RULE)
    assert found is not None
    assert (found.outcome, found.evidence["at"]) == (Outcome.NOT_FINITE, [3, 4])


@pytest.mark.parametrize(("value", "other"), [(np.nan, np.inf), (np.inf, -np.inf), (np.inf, 1.0)])
def test_kinds_that_are_not_finite_must_agree(value, other):
    truth = random(10, 10)
    truth[2, 2] = value
    right = make_answer("y", truth.copy(), F32, (truth,))
    got = truth.astype(F32)
    assert judge(got, right, RULE) is None
    got[2, 2] = other
    found = judge(got, right, RULE)
    assert found is not None
    assert found.outcome is Outcome.WRONG_VALUES


def test_elements_never_written_are_counted():
    truth = random(10, 10)
    got = truth.astype(F32)
    got.view(np.uint8).reshape(10, 40)[7, :12] = 0xFF
    found = judge(got, answer(truth), RULE, poison=0xFF)
    assert found is not None
    assert found.evidence["never_written"] == 3
    assert "never written" in found.reason


def test_shapes_are_compared_before_values():
    truth = np.ones((8, 8))
    found = judge(np.ones((1,), F32), answer(truth), RULE)
    assert found is not None
    assert found.outcome is Outcome.WRONG_SHAPE


def test_integers_must_be_equal():
    right = make_answer("n", np.arange(12).reshape(3, 4), np.dtype("int64"))
    got = np.arange(12).reshape(3, 4)
    assert judge(got, right, RULE) is None
    got = got.copy()
    got[1, 1] = 99
    found = judge(got, right, RULE)
    assert found is not None
    assert (found.evidence["wrong"], found.evidence["at"]) == (1, [1, 1])


def test_an_answer_beyond_the_range_of_the_type_is_an_infinity():
    right = make_answer("y", np.array([1e39, 1.0]), F32)
    assert judge(np.array([np.inf, 1.0], F32), right, RULE) is None
    assert judge(np.array([3e38, 1.0], F32), right, RULE) is not None


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_the_spacing_is_numpys(dtype):
    for scale in (1.0, 1.5, 100.0, 0.3):
        assert ulp(scale, np.dtype(dtype)) == float(np.spacing(np.dtype(dtype).type(scale)))


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
def test_narrow_types_pass_when_rounded_and_fail_two_steps_away(dtype):
    dtype = np.dtype(dtype)
    truth = np.linspace(-2, 2, 1001)
    right = make_answer("y", truth.copy(), dtype, (truth.astype(dtype),))
    assert judge(truth.astype(dtype), right, RULE) is None
    assert judge((truth + 5).astype(dtype), right, RULE) is not None


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (40_000,)])
def test_every_shape_can_be_measured(shape):
    truth = random(*shape) if shape else np.array(1.25)
    errors = measure(np.asarray(truth, F32), np.asarray(truth))
    assert errors.misplaced == 0
    assert errors.largest <= 1e-6
    assert judge(np.asarray(truth, F32), answer(truth), RULE) is None


FLOATS = [np.dtype(one) for one in ("float64", "float32", "float16", ml_dtypes.bfloat16)]
TOLERANCES = st.builds(Tolerance, k=st.floats(0.5, 64), ulps=st.sampled_from([1.0, 2.0, 4.0]))


@st.composite
def outputs(draw):
    """An answer of any float type, scale and size, and one of its elements."""
    dtype = draw(st.sampled_from(FLOATS))
    size = draw(st.sampled_from([1, 2, 63, 500, 5000]))
    scale = 10.0 ** draw(st.integers(-3, 3))
    truth = np.random.default_rng(draw(st.integers(0, 2**32))).standard_normal(size) * scale
    honest = truth.astype(dtype).astype(np.float64)
    honest *= 1 + draw(st.sampled_from([0.0, 1e-6, 1e-3]))
    return make_answer("y", truth, dtype, (honest,)), draw(st.integers(0, size - 1))


def shifted(answer, index, by):
    """The answer as stored, one element moved."""
    got = answer.truth.copy()
    got[index] += by
    return got.astype(answer.dtype)


@given(outputs(), TOLERANCES, st.sampled_from([-1, 1]))
def test_twice_the_tolerance_fails_and_half_of_it_passes(output, tolerance, sign):
    answer, index = output
    limit, _ = allowed(answer, tolerance)
    # Where the type cannot hold the difference, there is nothing to compare.
    assume(abs(float(shifted(answer, index, 2 * sign * limit)[index]) - answer.truth[index])
           > 1.5 * limit)  # fmt: skip
    found = compare(shifted(answer, index, 2 * sign * limit), answer, tolerance)
    assert found.finding is not None
    assert found.finding.outcome is Outcome.WRONG_VALUES
    assert found.share > 1
    # Of two unequal elements the larger may be rounded by more than the limit.
    half = shifted(answer, index, sign * limit / 2)
    assume(abs(float(half[index]) - answer.truth[index]) < 0.9 * limit)
    passed = compare(half, answer, tolerance)
    assert passed.finding is None
    assert passed.share <= 1


@given(outputs(), st.lists(st.sampled_from([np.nan, np.inf, -np.inf, 1.0]), min_size=2, max_size=2))
def test_kinds_and_places_of_what_is_not_finite_must_agree(output, values):
    answer, index = output
    right, wrong = values
    truth = answer.truth.copy()
    truth[index] = right
    mine = make_answer("y", truth, answer.dtype, (truth.astype(answer.dtype),))
    got = truth.astype(answer.dtype)
    assert judge(got, mine, RULE) is None
    got[index] = wrong
    same = np.array_equal([right], [wrong], equal_nan=True)
    assert (judge(got, mine, RULE) is None) == same
    other = (index + 1) % truth.size
    if not np.isfinite(right) and other != index:
        moved = truth.astype(answer.dtype)
        moved[[index, other]] = moved[[other, index]]
        assert judge(moved, mine, RULE) is not None


@given(st.sampled_from([(1,), (8,), (8, 1), (1, 8, 8), (64,), ()]))
def test_no_shape_stands_for_another(shape):
    right = answer(np.ones((8, 8)))
    found = judge(np.ones(shape, F32), right, RULE)
    assert found is not None
    assert found.outcome is Outcome.WRONG_SHAPE


@given(st.integers(0, 10**6 - 1))
def test_one_wrong_element_of_a_million_is_too_many(index):
    truth = np.zeros(10**6)
    truth[::7] = 1.0
    got = truth.astype(F32)
    got[index] += 1e-3
    assert judge(got, answer(truth), RULE) is not None


def test_exact_floats_must_be_equal():
    whole = np.arange(-50.0, 50.0)
    right = replace(make_answer("y", whole.copy(), F32, (whole,)), whole=True)
    assert right.reproduced
    got = whole.astype(F32)
    assert judge(got, right, RULE) is None
    got[60] = np.nextafter(got[60], np.float32(100))
    found = judge(got, right, RULE)
    assert found is not None
    assert (found.evidence["wrong"], found.evidence["at"]) == (1, [60])
    assert "exact" in found.reason
    got[60] = np.nan
    assert judge(got, right, RULE) is not None
    assert not make_answer("y", whole.copy(), F32, (whole * 1.0001,)).reproduced
    assert not make_answer("n", np.arange(3), np.dtype("int64")).reproduced


def test_a_pass_says_how_near_it_was_and_where():
    truth = random(5, 4096)
    right = answer(truth)
    got = truth.astype(F32)
    got[3] += 2 * right.e0_largest
    found = compare(got, right, RULE)
    assert found.finding is None
    assert 0.4 < found.share < 0.6
    assert found.tile == (3 * 4096, 4 * 4096)


def test_only_whole_numbers_must_be_met_exactly():
    halves = np.arange(-50.0, 50.0) / 2
    assert not make_answer("y", halves.copy(), F32, (halves,)).reproduced
