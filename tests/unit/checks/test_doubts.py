"""Elements of which honest evaluations make different things: accepted while they are few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernelwright.checks.answer import make_answer
from kernelwright.checks.controls import moved
from kernelwright.checks.correctness import compare, judge
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Tolerance

RULE = Tolerance()
F32 = np.dtype(np.float32)
SHAPE = (20, 50)


def changed(array, places, values):
    found = array.copy()
    found.reshape(-1)[places] = values
    return found


def quantised():
    """An int8 answer, and two honest evaluations that differ from it at an element each."""
    truth = np.arange(1000, dtype=np.int64).reshape(SHAPE).astype(np.int8)
    native, serial = changed(truth, [7], 99), changed(truth, [500], 98)
    return truth, native, serial


def test_whole_numbers_at_a_boundary_may_be_as_any_honest_evaluation_has_them():
    truth, native, serial = quantised()
    answer = make_answer("n", truth, truth.dtype, (native, serial))
    assert not answer.undecided
    both = changed(native, [500], 98)
    for got in (truth, native, serial, both):
        assert judge(got, answer, RULE) is None
    for place, value in ((7, 97), (500, 97), (8, 99)):
        found = compare(changed(truth, [place], value), answer, RULE)
        assert found.finding is not None
        assert found.finding.outcome is Outcome.WRONG_VALUES
        assert found.finding.evidence["at"] == [place // 50, place % 50]
        assert found.misplaced == 1


def test_truth_values_at_a_boundary_are_decided_either_way():
    truth = np.arange(1000).reshape(SHAPE) % 3 == 0
    native = changed(truth, [7], ~truth.reshape(-1)[7])
    answer = make_answer("b", truth, truth.dtype, (native, truth))
    assert judge(native, answer, RULE) is None
    assert judge(changed(native, [8], ~truth.reshape(-1)[8]), answer, RULE) is not None


def test_storage_with_gaps_is_settled_too_and_left_as_it_was():
    truth, native, serial = quantised()
    answer = make_answer("n", truth, truth.dtype, (native, serial))
    got = np.zeros((50, 40), np.int8)[:, ::2].T
    got[...] = native
    assert judge(got, answer, RULE) is None
    assert np.array_equal(got, native)


@pytest.mark.parametrize("wrong", [1000, 500, 11])
def test_many_doubts_accept_nothing(wrong):
    truth, *_ = quantised()
    native = changed(truth, np.arange(wrong), truth.reshape(-1)[:wrong] ^ 1)
    answer = make_answer("n", truth, truth.dtype, (native, truth))
    assert answer.undecided
    assert answer.doubts.share == wrong / 1000
    assert judge(truth, answer, RULE) is None
    assert judge(native, answer, RULE) is not None
    one = changed(truth, [0], native.reshape(-1)[0])
    assert judge(one, answer, RULE) is not None


@pytest.mark.parametrize(("size", "undecided"), [(1, True), (2, False), (7, False)])
def test_a_single_element_of_several_may_be_in_doubt(size, undecided):
    truth = np.zeros(size, bool)
    answer = make_answer("b", truth, truth.dtype, (changed(truth, [0], True),))
    assert answer.undecided is undecided


def test_an_empty_output_has_no_doubts():
    truth = np.zeros((0, 3), np.int32)
    answer = make_answer("n", truth, truth.dtype, (truth,))
    assert not answer.undecided
    assert answer.doubts.share == 0
    assert judge(truth, answer, RULE) is None


def overflowing(places):
    """A float answer, and honest evaluations one of which overflows at some elements."""
    truth = np.random.default_rng(3).standard_normal(SHAPE)
    right = truth.astype(F32).astype(np.float64)
    return truth, make_answer("y", truth.copy(), F32, (changed(right, places, np.inf), right))


def test_the_few_elements_that_overflow_in_honest_arithmetic_are_left_out():
    truth, answer = overflowing([7, 500])
    assert not answer.undecided
    right = truth.astype(F32)
    for value in (right.reshape(-1)[7], np.inf, np.nan, 3e38):
        assert judge(changed(right, [7], value), answer, RULE) is None
    for value in (np.inf, np.nan, 3e38):
        assert judge(changed(right, [8], value), answer, RULE) is not None


def test_where_many_overflow_nothing_is_left_out():
    truth, answer = overflowing(np.arange(11))
    assert answer.undecided
    assert judge(changed(truth.astype(F32), [0], np.inf), answer, RULE) is not None


def test_the_element_that_is_moved_to_try_the_comparison_is_in_no_doubt():
    truth, _ = overflowing([])
    smallest = int(np.abs(truth).argmin())
    _, answer = overflowing([smallest])
    (place,) = np.flatnonzero(moved(answer, 1.0) != truth)
    assert place != smallest
    everywhere = replace(answer, truth=np.full(SHAPE, np.nan))
    assert moved(everywhere, 1.0) is None


def test_whole_floats_stay_strict():
    whole = np.arange(1000.0).reshape(SHAPE)
    assert make_answer("y", whole.copy(), F32, (whole, whole)).reproduced
    odd = make_answer("y", whole.copy(), F32, (changed(whole, [7], np.inf), whole))
    assert not odd.reproduced
    strict = replace(make_answer("y", whole.copy(), F32, (whole, whole)), whole=True)
    found = compare(changed(whole.astype(F32), [7], 8), strict, RULE)
    assert found.finding is not None
