"""Which hostile questions are asked at the timed size, and after the timed calls."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation import stability
from kernelwright.evaluation.ring import POISONS
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Shaped, Values
from kernelwright.tasks import hostile
from tests.samples import VECTOR as CASE


class Trial:
    """Keeps what it is asked; what it finds is given."""

    def __init__(self, seed=0, outcome=None):
        self.answers = SimpleNamespace(
            seed=lambda *words: seed, hostile=lambda case, kind: (case.workload, kind)
        )
        self.asked, self.allowed, self.outcome = [], 0.0, outcome
        self.stable = set()

    def check(self, name):
        self.name = name
        return nullcontext()

    def where_defined(self, name):
        return nullcontext()

    def allow(self, seconds):
        self.allowed = seconds

    def correct(self, question, *, ring, blame, pattern=None):
        self.asked.append((*question, ring, pattern))
        if self.outcome is not None:
            raise Rejected(blame(Finding(self.outcome, "off by 9")))


@pytest.fixture(autouse=True)
def rows(monkeypatch):
    """Questions that were asked in a row, with the ring."""
    asked = []
    monkeypatch.setattr(
        stability, "in_a_row", lambda trial, question, ring, blame: asked.append((question, ring))
    )
    return asked


LARGE = CASE.model_copy(update={"workload": "main"})
BOUNDED = LARGE.model_copy(
    update={
        "inputs": (Shaped(name="x", shape=(64,), dtype="float32", values=Values(kind="uniform")),)
    }
)


def timed(trial, case):
    cases = SimpleNamespace(smoke=CASE, timed=[case])
    stability.timed(trial, cases, lambda case, sealed=False: case.workload)
    return [kind for _, kind, _, pattern in trial.asked if pattern == POISONS[0]]


def test_outliers_come_first_at_the_timed_size_and_the_secret_orders_the_rest(monkeypatch):
    monkeypatch.setattr(stability, "TIMED_SECONDS", 3600.0)
    orders = [timed(Trial(seed), LARGE) for seed in range(8)]
    assert {order[0] for order in orders} == {hostile.OUTLIERS}
    assert len({tuple(order) for order in orders}) > 4
    assert set(orders[0]) == set(hostile.kinds(LARGE)) - set(hostile.NON_FINITE)


def test_one_question_is_asked_after_the_timed_calls_in_their_buffers(rows):
    trial = Trial()
    stability.afterwards(trial, LARGE, "the timed ring")
    assert trial.asked == [("main", hostile.OUTLIERS, "the timed ring", None)]
    assert rows == [(("main", hostile.OUTLIERS), "the timed ring")]
    assert trial.name == "after main"
    assert trial.allowed == stability.AFTER_SECONDS
    bounded = Trial()
    stability.afterwards(bounded, BOUNDED, "the timed ring")
    assert bounded.asked[0][1] in hostile.kinds(BOUNDED)


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (Outcome.WRONG_VALUES, Outcome.NUMERICALLY_UNSTABLE),
        (Outcome.NOT_FINITE, Outcome.NUMERICALLY_UNSTABLE),
        (Outcome.OUT_OF_BOUNDS, Outcome.OUT_OF_BOUNDS),
    ],
)
def test_values_that_are_wrong_afterwards_have_an_outcome_of_their_own(seen, said):
    trial = Trial()
    timed(trial, LARGE)
    trial.outcome = seen
    with pytest.raises(Rejected) as rejected:
        stability.afterwards(trial, LARGE, None)
    assert rejected.value.finding.outcome is said
    assert ("had been timed" in rejected.value.finding.reason) == (said is not seen)


def test_state_is_blamed_only_where_the_same_question_was_answered_right_before():
    with pytest.raises(Rejected) as rejected:
        stability.afterwards(Trial(outcome=Outcome.WRONG_VALUES), LARGE, None)
    assert rejected.value.finding.outcome is Outcome.NUMERICALLY_UNSTABLE
    assert "had been timed" not in rejected.value.finding.reason


def test_every_question_is_asked_in_a_row_once(rows):
    trial = Trial()
    kinds = timed(trial, LARGE)
    assert [kind for (_, kind), _ in rows] == kinds
