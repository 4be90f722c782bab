"""Deadlines: of a call, of all calls together, and of whoever waits for the verdict."""

import types

from kernelwright.evaluation import bench, trial
from kernelwright.evaluation.trial import Trial
from kernelwright.executors import judge


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
