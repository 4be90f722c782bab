from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest

from kernelwright.checks.answer import make_answer
from kernelwright.checks.finding import Rejected
from kernelwright.evaluation import sides
from kernelwright.evaluation.clocks import Clocks
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.report import Ran
from kernelwright.evaluation.ring import Ring
from kernelwright.evaluation.ring_inputs import Inputs
from kernelwright.evaluation.sides import CandidateSide, RingSide
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Tolerance
from tests.samples import VECTOR


class Claims:
    """A worker that claims given nanoseconds, and a wall clock that shows others."""

    def __init__(self, ns, wall_ns, idle_ns=0):
        self.ns, self.wall_ns, self.idle_ns, self.orders = ns, wall_ns, idle_ns, []

    armed_for = None
    beside_us = staticmethod(lambda ring: 0.0)
    again_watched = staticmethod(lambda order, deadline: None)

    def arm(self, order, deadline, whose, *, handicap, more):
        self.orders.append(list(order))
        self.armed_for = whose

    def go(self, deadline):
        self.armed_for = None
        return Ran(tuple(self.ns), self.wall_ns, 0, self.idle_ns)


def side(ns, wall_ns, slots=5):
    base = {"x": np.random.default_rng(1).standard_normal(64).astype(np.float32)}
    ring = Ring(Inputs(VECTOR, slots, sealed=True))
    ring.inputs.fill(base)
    return RingSide(Claims(ns, wall_ns), ring, base, 1, lambda: None, 1.0)


def test_a_call_that_does_the_work_of_the_others_gains_nothing():
    honest = side([1000] * 5, 6000)
    hoarding = side([4996, 1, 1, 1, 1], 6000)
    assert hoarding.block() == pytest.approx(honest.block())


def test_slots_run_in_an_order_that_changes_and_now_and_then_not_all():
    one, other = side([1000] * 5, 6000), side([1000] * 5, 6000)
    for _ in range(40):
        one.block()
        other.block()
    orders = one.worker.orders
    assert orders == other.worker.orders
    assert all(len(set(order)) == len(order) for order in orders)
    assert len({tuple(order) for order in orders}) > 20
    assert 2 < sum(len(order) < 5 for order in orders) < 25


def test_hidden_time_is_a_disagreement_of_clocks_and_waiting_now_and_then_is_not():
    hiding, waiting = side([1000] * 5, 5_000_000), side([1000] * 5, 0)
    for number in range(12):
        hiding.block()
        waiting.worker.wall_ns = 6000 if number % 3 == 0 else 5_000_000
        waiting.block()
    assert waiting.clocks.medians()["worker"] == 1.0
    waiting.clocks.check()
    with pytest.raises(Rejected) as rejected:
        hiding.clocks.check()
    assert rejected.value.finding.outcome is Outcome.CLOCK_DISAGREEMENT


def test_work_before_the_word_is_deferred_work_and_a_hiccup_is_not():
    early, hiccup = side([1000] * 5, 6000), side([1000] * 5, 6000)
    early.worker.idle_ns = 2_000_000
    for number in range(12):
        early.block()
        hiccup.worker.idle_ns = 9_000_000 if number % 3 == 0 else 0
        hiccup.block()
    assert hiccup.clocks.medians()["idle"] == 0
    hiccup.clocks.check()
    with pytest.raises(Rejected) as rejected:
        early.clocks.check()
    assert rejected.value.finding.outcome is Outcome.DEFERRED_WORK


def test_a_worker_is_armed_before_the_contents_of_its_block_exist():
    one = side([1000] * 5, 6000)
    one.ready()
    before = one.ring.inputs.contents(0)["x"].copy()
    one.ready()
    assert len(one.worker.orders) == 1
    one.block()
    assert len(one.worker.orders) == 1
    assert (one.ring.inputs.contents(0)["x"] != before).any()


def test_blocks_that_waited_on_a_busy_machine_are_outlived():
    clocks = Clocks()
    for wall in [9_000_000] * 10:
        clocks.add(Ran((1000, 1000), wall))
    assert clocks.doubtful
    for wall in [100_000] * 50:
        assert clocks.doubtful or clocks.beyond_us <= 0
        clocks.add(Ran((1000, 1000), wall))
    assert not clocks.doubtful
    clocks.check()


def test_work_that_is_hidden_in_every_block_is_found_however_many_there_are():
    clocks = Clocks()
    while not clocks.claimed or clocks.doubtful:
        clocks.add(Ran((1000, 1000), 900_000))
    with pytest.raises(Rejected) as caught:
        clocks.check()
    assert caught.value.finding.outcome is Outcome.CLOCK_DISAGREEMENT


@pytest.mark.parametrize(("asking_us", "accused"), [(150.0, True), (600.0, True), (1200.0, False)])
def test_nobody_is_accused_of_what_asking_takes_on_this_machine_now(asking_us, accused):
    clocks = Clocks()
    for _ in range(12):
        clocks.add(Ran((100_000,) * 5, 1_500_000))
    if not accused:
        clocks.check(lambda: asking_us)
        return
    with pytest.raises(Rejected) as caught:
        clocks.check(lambda: asking_us)
    assert caught.value.finding.outcome is Outcome.CLOCK_DISAGREEMENT


def test_what_asking_takes_is_asked_in_doubt_only():
    clocks = Clocks()
    clocks.add(Ran((100_000,) * 5, 700_000))
    clocks.check(lambda: pytest.fail("there was no doubt"))


@pytest.mark.parametrize(("cpu_us", "outcome"), [(1900, None), (9000, Outcome.DEFERRED_WORK)])
def test_more_processor_time_than_the_calls_can_have_used_is_late_work(cpu_us, outcome):
    clocks = Clocks(cores=2)
    for _ in range(12):
        clocks.add(Ran((100_000,) * 8, 900_000, earlier_ns=1000 * cpu_us))
    if outcome is None:
        clocks.check()
        return
    with pytest.raises(Rejected) as caught:
        clocks.check()
    assert caught.value.finding.outcome is outcome


def test_a_worker_that_lies_in_most_blocks_gains_nothing():
    """No quantile shows it, so each block is charged with what the verifier saw of it."""
    clocks = Clocks(cores=2)
    lies = [clocks.add(Ran((4_000_000, 4_000_000), 20_000_000)) for _ in range(8)]
    honest = [clocks.add(Ran((10_000_000, 10_000_000), 20_100_000)) for _ in range(2)]
    clocks.check()
    assert min(lies) > 0.95 * honest[0]
    assert honest == [10_000.0] * 2


def test_a_candidate_is_charged_with_what_was_seen_and_a_rival_of_ours_is_believed(monkeypatch):
    monkeypatch.setattr(CandidateSide, "after", lambda self: None)
    ours = side([1_000_000] * 5, 50_000_000)
    mine = CandidateSide(ours.worker, ours.ring, ours.base, 1, lambda: None, 1.0)
    assert ours.block() == 1000.0
    assert mine.block() > 9000.0


def test_what_was_worked_before_the_word_and_after_the_report_is_charged_to_the_block():
    clocks = Clocks(cores=1)
    ran = Ran((1000,) * 5, 6000, idle_ns=15_000)
    assert clocks.add(ran) == pytest.approx(1.0)
    early = Ran((1000,) * 5, 6000, idle_ns=120_000)
    assert clocks.add(early) == pytest.approx((5 + 100) / 5)
    allowed_us = clocks._may_us
    late = Ran((1000,) * 5, 6000, earlier_ns=int(1000 * (allowed_us + 50)))
    assert clocks.add(late) == pytest.approx((5 + 50) / 5)


@pytest.mark.parametrize("undecided", [False, True])
def test_timed_outputs_are_compared_where_the_question_of_the_workload_is(undecided):
    ours = side([1000] * 5, 6000)
    mine = CandidateSide(ours.worker, ours.ring, ours.base, 1, lambda: None, 1.0)
    truth, dtype = np.linspace(1.0, 2.0, 64), np.dtype(np.float32)
    base = make_answer("y", truth.copy(), dtype, (np.full(64, np.nan),) if undecided else ())

    def timed(case, contents):
        return Question(case, contents, [make_answer("y", truth.copy(), dtype)])

    answers = SimpleNamespace(
        seed=lambda *words: 1,
        base=lambda case: Question(case, ours.base, [base]),
        timed=timed,
        again=lambda question: question,
    )
    mine.inspect(answers, Tolerance(), 1.0, 1, 1, lambda *seen: None)
    outputs = {"y": np.zeros(64, np.float32)}
    if undecided:
        mine._inspect(0, outputs)
        assert mine.inspected == 1
        return
    with pytest.raises(Rejected, match="a timed call was wrong"):
        mine._inspect(0, outputs)


@pytest.mark.parametrize("shape", [(3, 5), (1, 300_000), (700, 500), (2, 999, 77)])
def test_a_copy_holds_everything_in_whatever_order_it_was_made(shape):
    values = np.random.default_rng(0).standard_normal((*shape, 2)).astype(np.float32)[..., 0]
    made = [sides._copied(values, random.Random(seed)) for seed in range(3)]
    assert all(np.array_equal(one, values) for one in made)
