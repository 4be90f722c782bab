"""What a timed workload leaves in the labels of a verdict."""

import contextlib
import types

import pytest

from kernelwright.evaluation.stopwatch import Stopwatch
from kernelwright.tasks.draws import ENOUGH

CASE = types.SimpleNamespace(workload="main")


class Timed(Stopwatch):
    """Repeats contents so often, in the place of timing."""

    def __init__(self, draws, repeats):
        self.trial = types.SimpleNamespace(labels={}, check=lambda name: contextlib.nullcontext())
        answers = types.SimpleNamespace(draws=lambda case: draws)
        compulsory = types.SimpleNamespace(implausible=lambda case, time_us: None)
        bench = types.SimpleNamespace(answers=answers, compulsory=compulsory)
        job = types.SimpleNamespace(plan=types.SimpleNamespace(stages=()))
        super().__init__(job, bench, self.trial, None, None)
        self.draws, self.repeats = draws, repeats

    def _against_baselines(self, case):
        if self.draws:
            self.draws.repeated += self.repeats
        time_us = types.SimpleNamespace(median=1.0)
        self.measurements.append(types.SimpleNamespace(time_us=time_us))


@pytest.mark.parametrize(
    ("at_hand", "repeats", "told"),
    [(9, 3, {"main": 9}), (9, 0, None), (ENOUGH, 3, None), (None, 0, None)],
)
def test_contents_that_recur_are_told(at_hand, repeats, told):
    draws = at_hand and types.SimpleNamespace(repeated=7, at_hand=at_hand)
    watch = Timed(draws, repeats)
    watch.add(CASE)
    assert watch.trial.labels.get("contents_recur") == told
