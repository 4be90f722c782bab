"""Deadlines of calls and of whoever waits for the verdict; what is compared, and what named."""

from __future__ import annotations

import types

import numpy as np
import pytest

from kernelwright.checks.answer import make_answer
from kernelwright.checks.finding import Rejected
from kernelwright.evaluation import bench, trial
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.evaluation.trial import Trial
from kernelwright.executors import judge
from kernelwright.records.task import Tolerance
from tests.samples import VECTOR as CASE


def test_whoever_waits_does_so_longer_than_everything_within_may_take():
    assert trial.CHECK_SECONDS < trial.WHOLE_SECONDS
    assert trial.WHOLE_SECONDS + bench.BLOCK_SECONDS < judge.JUDGE_SECONDS
    assert bench.ANSWER_SECONDS + bench.BLOCK_SECONDS < judge.JUDGE_SECONDS < judge.OPEN_SECONDS


def test_a_candidate_gains_no_time_by_moving():
    class Process:
        until = 0.0
        closed = False

        def close(self):
            self.closed = True

    first, second = Process(), Process()
    found = Trial(types.SimpleNamespace(), first, types.SimpleNamespace(), 1.0)
    assert first.until > 0
    found.move(second)
    assert second.until == first.until
    assert first.closed


def test_a_process_that_is_locked_is_not_bound_again():
    log = []

    class Process:
        until, locked = 0.0, False

        def bind(self, ring, deadline):
            assert not self.locked
            log.append(ring)

        def close(self):
            log.append("closed")

    first, second = Process(), Process()
    found = Trial(types.SimpleNamespace(), first, types.SimpleNamespace(), 1.0, lambda: second)
    found.bind("one")
    first.locked = True
    found.bind("one")
    found.bind("two")
    assert log == ["one", "closed", "two"]
    assert found.worker is second


class Zeros:
    """A worker whose candidate answers nothing but zeros."""

    until = 0.0
    locked = False
    labels: dict[str, object] = {}

    def bind(self, ring, deadline):
        self.ring = ring

    def run(self, order, deadline):
        for slot in order:
            self.ring.output(slot, "y")[...] = 0

    def left_behind(self):
        return None


@pytest.mark.parametrize(("overflowing", "judged"), [(0, True), (1, True), (2, False), (64, False)])
def test_an_output_that_is_not_compared_is_named(overflowing, judged):
    truth = np.linspace(1.0, 2.0, 64)
    native = np.where(np.arange(64) < overflowing, np.inf, truth)
    case = CASE.model_copy(update={"note": "hostile inputs: large"})
    answers = [make_answer("y", truth, np.dtype(np.float32), (native, truth))]
    question = Question(case, {"x": np.ones(64, np.float32)}, answers)
    task = types.SimpleNamespace(tolerance=Tolerance())
    again = types.SimpleNamespace(again=lambda question: question)
    found = Trial(task, Zeros(), again, 1.0)
    if judged:
        with pytest.raises(Rejected, match="off by"):
            found.correct(question)
        assert "reference_undefined" not in found.labels
        return
    found.correct(question)
    ((where, reason),) = found.labels["reference_undefined"].items()
    assert where == "w, hostile inputs: large, y"
    assert f"disagree at {overflowing / 64:.1%}" in reason


@pytest.mark.parametrize("kind", ["nan", "shape", "raises", "writes"])
def test_a_case_is_skipped_where_the_reference_has_no_answer(kind):
    found = Trial(types.SimpleNamespace(), Zeros(), types.SimpleNamespace(), 1.0)
    with found.where_defined("w"):
        raise ReferenceFailure(kind, "it failed")
    assert found.labels["reference_undefined"] == {"w": "it failed"}


@pytest.mark.parametrize("kind", ["memory", "deadline", "exit", "process"])
def test_no_case_is_skipped_for_what_failed_beside_it(kind):
    found = Trial(types.SimpleNamespace(), Zeros(), types.SimpleNamespace(), 1.0)
    with pytest.raises(ReferenceFailure), found.where_defined("w"):
        raise ReferenceFailure(kind, "it failed")
    assert found.labels == {}
