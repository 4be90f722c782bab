"""What a stage shows a candidate from call to call."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from kernelwright.checks.answer import make_answer
from kernelwright.checks.finding import Rejected
from kernelwright.evaluation import stages
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.ring import Ring
from kernelwright.records.task import Tolerance
from tests.samples import VECTOR as CASE


class Trial:
    """Doubles, and keeps what lay behind the input in each call."""

    task = SimpleNamespace(tolerance=Tolerance(), determinism="bitwise")

    def __init__(self, honest=()):
        contents = {"x": np.arange(64, dtype=np.float32)}
        answer = make_answer("y", np.arange(0.0, 128.0, 2), np.dtype(np.float32), honest)
        self.wrong = 0.0
        question = Question(CASE, contents, [answer])
        self.answers = SimpleNamespace(base=lambda case: question)
        self.labels, self.behind = {}, []

    def check(self, name):
        return nullcontext()

    def again(self, ring, pattern):
        place = ring.inputs.sets.place(0, "x")
        end = place.offset + place.nbytes
        self.behind.append(ring.inputs.sets.arena.bytes[end : end + 256].tobytes())
        ring.output(0, "y")[...] = 2 * ring.inputs.contents(0)["x"] + self.wrong


def test_what_lies_beside_an_input_differs_between_calls_that_are_alike():
    """Else a result that depends on it would repeat."""
    trial, ring = Trial(), Ring.private(CASE, sealed=True)
    cases = SimpleNamespace(smoke=CASE, timed=[CASE])
    stages.run("repeats", trial, cases, lambda case, sealed=False: ring)
    assert len(trial.behind) == stages.REPEATS
    assert len(set(trial.behind)) == stages.REPEATS
    assert trial.labels["distinct_results_in_40_repeats"] == 1


@pytest.mark.parametrize("undecided", [False, True])
def test_repeats_are_compared_where_the_question_is(undecided):
    trial, ring = (
        Trial((np.full(64, np.nan),) if undecided else ()),
        Ring.private(CASE, sealed=True),
    )
    trial.wrong = 1.0
    cases = SimpleNamespace(smoke=CASE, timed=[CASE])
    if undecided:
        stages.run("repeats", trial, cases, lambda case, sealed=False: ring)
        return
    with pytest.raises(Rejected, match="alike ones was wrong"):
        stages.run("repeats", trial, cases, lambda case, sealed=False: ring)
