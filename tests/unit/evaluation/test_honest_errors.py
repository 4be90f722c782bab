"""Honest errors of several draws: the larger share of the answer's size counts."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.checks.answer import Answer
from kernelwright.evaluation.honest_errors import NEAR, HonestErrors, distinct_values
from kernelwright.records.task import Tolerance

F32 = np.dtype(np.float32)


def answer(scale, error, name="y", dtype=F32):
    truth = np.full(8, float(scale))
    return Answer(name, truth, dtype, scale, scale, error, error)


def test_errors_of_other_draws_follow_the_size_of_the_answer():
    seen = HonestErrors.of([answer(100.0, 1e-4)])
    held = seen.at(answer(1.0, 1e-9))
    assert held.e0_largest == pytest.approx(1e-6)
    assert held.e0_rms == pytest.approx(1e-6)


def test_an_answer_keeps_its_own_errors_where_they_are_larger():
    seen = HonestErrors.of([answer(1.0, 1e-9)])
    assert seen.at(answer(1.0, 1e-6)).e0_largest == 1e-6


def test_of_several_draws_the_larger_counts():
    seen = HonestErrors({})
    for error in (1e-8, 3e-7, 1e-7):
        seen = seen.joined(HonestErrors.of([answer(1.0, error)]))
    assert seen.at(answer(2.0, 0.0)).e0_largest == pytest.approx(6e-7)


def test_integers_have_no_honest_errors():
    whole = answer(1.0, 0.0, dtype=np.dtype(np.int32))
    assert HonestErrors.of([whole]).shares == {}
    assert HonestErrors({"y": (1.0, 1.0)}).at(whole) is whole


def test_different_values_are_counted_as_they_are_stored():
    close = Answer("y", np.array([1.0, 1.0 + 1e-12, 2.0]), F32, 2.0, 2.0)
    assert distinct_values(close) == 2


def test_another_hearing_grants_no_more_than_near_the_first():
    first, tolerance = answer(10.0, 1e-3), Tolerance(k=4.0)
    seen = HonestErrors.of([answer(10.0, 5.0)]).bounded([first], tolerance)
    assert seen.at(first).e0_largest == pytest.approx(NEAR * 1e-3)
    little = HonestErrors.of([answer(10.0, 2e-3)])
    assert little.bounded([first], tolerance) == little
