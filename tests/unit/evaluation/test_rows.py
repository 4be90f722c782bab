"""A question in a row of calls: what the last one leaves is compared."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kernelwright.checks.answer import make_answer
from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.block import MOST_CALLS
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.ring import Ring
from kernelwright.evaluation.ring_inputs import Inputs
from kernelwright.evaluation.rows import in_a_row, once_only
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Tolerance
from tests.samples import VECTOR as CASE

X = np.linspace(1, 2, 64, dtype=np.float32)


class Worker:
    """Doubles its input; only nearly, where ``careless`` says so of a row and of a call in it."""

    def __init__(self, ring, careless):
        self.ring, self.careless, self.rows = ring, careless, []
        self.beside = None
        """A slot of which a call writes before its output."""

    def run(self, order, deadline):
        self.rows.append(order)
        self.seen = [self.ring.inputs.contents(slot)["x"].tobytes() for slot in order]
        if self.beside in order:
            self.ring.outputs.arena.bytes[0] ^= 0xFF
        for number, slot in enumerate(order):
            wrong = 0.1 if self.careless(len(self.rows), number) else 0.0
            self.ring.output(slot, "y")[...] = 2 * self.ring.inputs.contents(slot)["x"] + wrong

    def left_behind(self):
        return None


def ask(careless, seed=0, honest=2 * X, slots=1, beside=None, seen=None):
    ring = Ring(Inputs(CASE, slots, sealed=slots > 1))
    answer = make_answer("y", 2 * X.astype(np.float64), X.dtype, (honest,))
    question = Question(CASE, {"x": X}, [answer])
    worker = Worker(ring, careless)
    worker.beside = beside
    trial = SimpleNamespace(
        answers=SimpleNamespace(
            seed=lambda *words: seed,
            again=lambda question: question,
            base=lambda case: SimpleNamespace(contents={"x": X[::-1]}),
        ),
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
    return worker.rows if seen is None else seen.append(worker.seen)


@pytest.mark.parametrize("seed", range(8))
def test_a_row_has_some_calls_and_is_right_where_all_are(seed):
    (order,) = ask(careless=lambda row, call: False, seed=seed)
    assert 2 <= len(order) <= MOST_CALLS


def test_the_calls_before_the_last_have_other_contents_each():
    seen = []
    for seed in range(8):
        ask(lambda row, call: False, seed, slots=MOST_CALLS, seen=seen)
    for row in seen:
        assert row[-1] == X.tobytes()
        assert len(set(row)) == len(row) >= 2
        assert X[::-1].tobytes() not in row
    assert len({len(row) for row in seen}) > 1


@pytest.mark.parametrize(
    ("careless", "outcome", "reason"),
    [
        (lambda row, call: call >= 1, Outcome.WRONG_VALUES, "right alone, but not in a row of"),
        (lambda row, call: row == 1, Outcome.NONDETERMINISTIC, "right in 3 of 3 alike ones"),
        (lambda row, call: row in (1, 3), Outcome.NONDETERMINISTIC, "right in 2 of 3 alike ones"),
        (lambda row, call: True, Outcome.STALE_OR_CACHED_OUTPUT, "wrong since"),
    ],
    ids=["careful alone", "once", "now and then", "from now on"],
)
def test_a_wrong_row_is_named_by_what_further_calls_answer(careless, outcome, reason):
    with pytest.raises(Rejected, match=reason) as rejected:
        ask(careless)
    found: Finding = rejected.value.finding
    assert found.outcome is outcome
    assert found.evidence["workload"] == CASE.workload


def test_an_output_of_which_honest_evaluations_disagree_is_not_compared():
    rows = ask(lambda row, call: True, honest=np.full_like(X, np.inf))
    assert len(rows) == 1


def test_every_call_of_a_row_is_looked_at_for_what_it_wrote_beside():
    found = []
    for seed in range(20):
        try:
            (order,) = ask(lambda row, call: False, seed, slots=3, beside=0)
        except Rejected as rejected:
            found.append(rejected.finding.outcome)
        else:
            assert 0 not in order
    assert found == [Outcome.OUT_OF_BOUNDS] * len(found)
    # In about five rows of six slot 0 is called.
    assert len(found) > 10


@pytest.mark.parametrize(
    ("careless", "outcome"),
    [
        (lambda row, call: False, Outcome.NONDETERMINISTIC),
        (lambda row, call: True, Outcome.NUMERICALLY_UNSTABLE),
    ],
    ids=["right when asked again", "wrong again"],
)
def test_a_wrong_call_is_asked_again_before_it_is_named(careless, outcome):
    ring = Ring(Inputs(CASE, 1, sealed=False))
    ring.inputs.fill({"x": X})
    answer = make_answer("y", 2 * X.astype(np.float64), X.dtype, (2 * X,))
    worker = Worker(ring, careless)
    worker.beside = None
    trial = SimpleNamespace(
        answers=SimpleNamespace(again=lambda question: question),
        task=SimpleNamespace(tolerance=Tolerance()),
        worker=worker,
        deadline=1.0,
    )
    unstable = Finding(Outcome.NUMERICALLY_UNSTABLE, "unstable", {})
    question = Question(CASE, {"x": X}, [answer])
    try:
        named = once_only(trial, question, ring, lambda finding: unstable)
        found = named(Finding(Outcome.WRONG_VALUES, "off", {}))
        elsewhere = named(Finding(Outcome.CRASHED, "gone", {}))
    finally:
        ring.close()
        ring.inputs.close()
    assert found.outcome is outcome
    assert elsewhere is unstable
    assert worker.rows == [[0]]
