"""A question in a row of calls: what the last one leaves is compared."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kernelwright.checks.answer import make_answer
from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.ring import Ring
from kernelwright.evaluation.rows import MOST, in_a_row
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Tolerance
from tests.samples import VECTOR as CASE

X = np.linspace(1, 2, 64, dtype=np.float32)


class Worker:
    """Doubles its input; in a row, from the call of that number on, only nearly."""

    def __init__(self, ring, careless):
        self.ring, self.careless, self.rows = ring, careless, []

    def run(self, order, deadline):
        self.rows.append(order)
        for number, slot in enumerate(order):
            wrong = 0.1 if number >= self.careless else 0.0
            self.ring.output(slot, "y")[...] = 2 * self.ring.inputs.contents(slot)["x"] + wrong

    def left_behind(self):
        return None


def ask(careless, seed=0):
    ring = Ring.private(CASE)
    answer = make_answer("y", 2 * X.astype(np.float64), X.dtype, (2 * X,))
    question = Question(CASE, {"x": X}, [answer])
    worker = Worker(ring, careless)
    trial = SimpleNamespace(
        answers=SimpleNamespace(seed=lambda *words: seed, again=lambda question: question),
        task=SimpleNamespace(tolerance=Tolerance()),
        worker=worker,
        deadline=1.0,
        checks=[],
        stable=set(),
        bind=lambda ring: None,
    )
    try:
        in_a_row(trial, question, ring, lambda found: found)
    finally:
        ring.close()
        ring.inputs.close()
    return worker.rows


@pytest.mark.parametrize("seed", range(8))
def test_a_row_has_some_calls_and_is_right_where_all_are(seed):
    (order,) = ask(careless=99, seed=seed)
    assert 2 <= len(order) <= MOST


def test_whoever_is_careless_from_the_second_call_on_is_found():
    with pytest.raises(Rejected, match="not in a row of") as rejected:
        ask(careless=1)
    found: Finding = rejected.value.finding
    assert found.outcome is Outcome.WRONG_VALUES
    assert found.evidence["workload"] == CASE.workload
