"""Which leaders are confirmed, and what a run may claim of them."""

from __future__ import annotations

import pytest

from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Session
from kernelwright.records.measurement import Comparison, Measurement, Times
from kernelwright.records.outcome import Decision, Outcome
from kernelwright.records.rung import Rung
from kernelwright.search.finals import TRIES, Finals


def session(floor_us=None):
    floors = {} if floor_us is None else {"w": floor_us}
    return Session(baselines=(), strongest="loop", bandwidth_gbps=1, rate_gflops=1, noop_us=0,
                   environment={}, floor_us=floors)  # fmt: skip


def confirm(candidate, speedup=2.0, *, faster=True, time_us=50.0, margin=0.01):
    """A confirm that passed; ``faster`` is what its comparison decided."""
    decision = Decision.FASTER if faster else Decision.UNDECIDED
    compared = Comparison(baseline="loop", workload="w", ratio=speedup, low=speedup * 0.99,
                          high=speedup * 1.01, decision=decision, margin=margin, pairs=30,
                          candidate_us=time_us, baseline_us=time_us * speedup)  # fmt: skip
    times = Times(median=time_us, p20=time_us, p80=time_us, min=time_us, n=30)
    measured = Measurement(workload="w", time_us=times, noop_us=0)
    return Evaluation(candidate=candidate, rung=Rung.CONFIRM, outcome=Outcome.PASSED,
                      comparisons=(compared,), measurements=(measured,))  # fmt: skip


def failed(candidate):
    return Evaluation(candidate=candidate, rung=Rung.CONFIRM, outcome=Outcome.CRASHED)


def finals(*verdicts, target=None, floor_us=None):
    made = Finals(target)
    made.session = session(floor_us)
    for verdict in verdicts:
        made.add(verdict)
    return made


def following(made, leaders, *, faster=()):
    return made.next(leaders, lambda candidate: candidate in faster)


def test_the_best_leader_is_confirmed_first_whatever_it_looked_like():
    assert following(finals(), ["a", "b"]) == "a"
    assert following(finals(), []) is None


def test_a_leader_that_fails_is_dropped_for_the_next():
    made = finals(failed("a"))
    assert made.is_dropped("a")
    assert following(made, ["a", "b"]) == "b"
    assert not made.is_dropped("b")


def test_a_leader_that_is_faster_ends_it():
    made = finals(failed("a"), confirm("b"))
    assert not made.is_dropped("b")
    assert following(made, ["a", "b", "c"], faster=("c",)) is None


def test_after_one_that_is_not_faster_only_those_that_looked_faster_are_tried():
    made = finals(confirm("a", 1.0, faster=False))
    assert following(made, ["a", "b"], faster=("b",)) == "b"
    assert following(made, ["a", "b"]) is None


def test_after_some_that_are_not_faster_the_answer_is_no():
    leaders = [f"c{at}" for at in range(TRIES + 2)]
    made = finals()
    for leader in leaders[:TRIES]:
        assert following(made, leaders, faster=leaders) == leader
        made.add(confirm(leader, 1.0, faster=False))
    assert following(made, leaders, faster=leaders) is None


def test_those_that_fail_are_no_tries():
    leaders = [f"c{at}" for at in range(TRIES + 3)]
    made = finals(*(failed(one) for one in leaders[:-1]))
    assert following(made, leaders) == leaders[-1]


@pytest.mark.parametrize(
    ("target", "floor_us", "says"),
    [
        (2.0, None, "the target of 2x is reached"),
        (2.5, None, ""),
        (None, None, ""),
        (None, 49.0, "no more than 5 % are left to the roofline"),
        (None, 30.0, ""),
        (2.0, 49.0, "the target of 2x is reached"),
    ],
)
def test_why_the_search_need_not_go_on(target, floor_us, says):
    made = finals(target=target, floor_us=floor_us)
    assert made.ends_search(confirm("a")) == says


def test_neither_a_failure_nor_a_run_without_a_session_ends_the_search():
    assert finals(target=1.0).ends_search(failed("a")) == ""
    assert Finals(1.0).ends_search(confirm("a")) == ""


def test_the_best_is_the_best_that_was_confirmed_faster_or_not():
    slow, fast = confirm("slow", 0.9, faster=False), confirm("fast", 1.5)
    assert finals(slow, failed("x"), fast).best() == fast
    assert finals(slow).best() == slow
    assert finals(failed("x")).best() is None
    assert Finals(None).best() is None


@pytest.mark.parametrize(
    ("verdicts", "floor_us", "budget_ended", "status"),
    [
        ([confirm("a")], None, False, "improved"),
        ([confirm("a")], None, True, "improved"),
        ([confirm("a")], 49.0, False, "nothing_left_to_win"),
        ([confirm("a", 1.0, faster=False)], 49.0, False, "nothing_left_to_win"),
        ([confirm("a", 2.0, faster=False)], None, False, "no_improvement"),
        ([confirm("a", 1.0, faster=False)], None, True, "no_improvement"),
        ([failed("a")], None, True, "no_improvement"),
        ([], None, True, "budget"),
        ([], None, False, "no_improvement"),
    ],
)
def test_how_a_run_ends(verdicts, floor_us, budget_ended, status):
    made = finals(*verdicts, floor_us=floor_us)
    assert made.status(budget_ended=budget_ended) == status


def test_a_confirm_that_could_tell_nothing_is_made_once_more():
    noisy = confirm("a", faster=False, margin=7.89)
    made = finals(noisy)
    assert following(made, ["a", "b"]) == "a"
    made.add(noisy)
    assert following(made, ["a", "b"], faster=("b",)) == "b"
    assert following(finals(confirm("a", faster=False)), ["a"]) is None
