"""What a stage shows a candidate from call to call."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np

from kernelwright.checks.answer import make_answer
from kernelwright.evaluation import stages
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.ring import Ring
from kernelwright.records.task import Tolerance
from tests.samples import VECTOR as CASE


class Trial:
    """Doubles, and keeps what lay behind the input in each call."""

    task = SimpleNamespace(tolerance=Tolerance(), determinism="bitwise")

    def __init__(self):
        contents = {"x": np.arange(64, dtype=np.float32)}
        answer = make_answer("y", np.arange(0.0, 128.0, 2), np.dtype(np.float32))
        question = Question(CASE, contents, [answer])
        self.answers = SimpleNamespace(base=lambda case: question)
        self.labels, self.behind = {}, []

    def check(self, name):
        return nullcontext()

    def again(self, ring, pattern):
        place = ring.inputs.sets.place(0, "x")
        end = place.offset + place.nbytes
        self.behind.append(ring.inputs.sets.arena.bytes[end : end + 256].tobytes())
        ring.output(0, "y")[...] = 2 * ring.inputs.contents(0)["x"]


def test_what_lies_beside_an_input_differs_between_calls_that_are_alike():
    """Else a result that depends on it would repeat."""
    trial, ring = Trial(), Ring.private(CASE, sealed=True)
    cases = SimpleNamespace(smoke=CASE, timed=[CASE])
    stages.run("repeats", trial, cases, lambda case, sealed=False: ring)
    assert len(trial.behind) == stages.REPEATS
    assert len(set(trial.behind)) == stages.REPEATS
    assert trial.labels["distinct_results_in_40_repeats"] == 1
