"""The books and the limits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.budget.ledger import CONFIRM_LOOKS, SAFETY, Ledger
from kernelwright.budget.limits import MOST_RESERVED, Limits
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.outcome import Outcome
from kernelwright.records.run import Budget
from kernelwright.records.rung import Rung

PRIORS = {rung: 1.0 + rung for rung in Rung}


def look(rung, seconds):
    return Evaluation(candidate="c", rung=rung, outcome=Outcome.CRASHED, seconds=seconds,
                      device_seconds=0.0 if rung is Rung.DRAFT else seconds)  # fmt: skip


def test_what_is_in_flight_is_set_aside_and_then_spent():
    books = Ledger(PRIORS)
    assert books.claim(1, Rung.DRAFT) == 1.0
    assert books.claim(2, Rung.FULL) == 4.0
    assert (books.drafts_in_flight(), books.looks_in_flight()) == (1, 1)
    assert books.remaining_s() == 4.0
    books.complete(1, look(Rung.DRAFT, 3.0), wall_s=3.0)
    assert books.spent.evaluations == 0
    assert books.remaining_s() == 1.0
    books.complete(2, look(Rung.FULL, 10.0), wall_s=10.0)
    assert books.spent.model_dump(include={"wall_s", "device_s", "evaluations"}) == {
        "wall_s": 10.0, "device_s": 10.0, "evaluations": 1,
    }  # fmt: skip
    assert books.estimate(Rung.FULL) == SAFETY * 10.0
    # Drafts took three times their prior: so may a rung that was not seen yet.
    assert books.estimate(Rung.SMOKE) == 3 * PRIORS[Rung.SMOKE]
    assert books.estimate(Rung.CONFIRM) == 2.5 * PRIORS[Rung.CONFIRM]


def test_jobs_lost_to_a_kill_are_charged():
    books = Ledger(PRIORS)
    books.claim(1, Rung.DRAFT)
    books.claim(2, Rung.SCREEN)
    books.claim(3, Rung.FULL)
    assert books.lost_s() == 4.0
    books.charge_lost()
    books.reopened(20.0)
    assert (books.wall_s, books.device_s, books.evaluations) == (20.0, 7.0, 2)
    assert books.remaining_s() == 4.0
    books.complete(3, look(Rung.FULL, 1.0), wall_s=21.0)
    assert (books.device_s, books.evaluations) == (8.0, 3)


def test_jobs_given_up_at_the_end_cost_what_they_took_and_no_more():
    books = Ledger(PRIORS)
    books.claim(1, Rung.DRAFT)
    books.claim(2, Rung.CONFIRM)
    books.wall_s = 30.0
    books.settle()
    assert (books.wall_s, books.device_s, books.evaluations) == (30.0, 30.0, 0)
    assert books.lost_s() == 0.0
    books.charge_lost()
    books.reopened(42.0)
    assert (books.wall_s, books.device_s, books.evaluations) == (42.0, 30.0, 0)
    assert books.lost_s() == PRIORS[Rung.CONFIRM]
    books.complete(2, look(Rung.CONFIRM, 5.0), wall_s=47.0)
    assert (books.device_s, books.evaluations) == (35.0, 1)


def test_more_budget_adds_to_what_is_limited():
    limits = Limits(Budget(minutes=1))
    limits.add(Budget(minutes=0.5, evaluations=3))
    assert limits.budget == Budget(minutes=1.5)
    assert (limits.wall_s, limits.evaluations) == (90.0, None)
    limits = Limits(Budget(evaluations=5))
    limits.add(Budget(evaluations=3))
    limits.add(Budget(minutes=1))
    assert limits.budget == Budget(evaluations=8)


@given(limit=st.integers(1, 30), spent=st.integers(0, 30), flying=st.integers(0, 5),
       later=st.integers(0, 4))  # fmt: skip
def test_evaluations_count_what_is_in_flight_and_what_must_follow(limit, spent, flying, later):
    books, limits = Ledger(PRIORS), Limits(Budget(evaluations=limit))
    books.evaluations = spent
    for number in range(flying):
        books.claim(number, Rung.SMOKE)
    afterwards = [Rung.CONFIRM] * later
    assert limits.allows(Rung.SMOKE, books, afterwards) == (spent + flying + 1 + later <= limit)
    assert limits.allows(Rung.DRAFT, books, afterwards) == (spent + flying + later <= limit)


def test_time_is_kept_for_the_confirm():
    books, limits = Ledger(PRIORS), Limits(Budget(minutes=1))
    books.wall_s = 50.0
    assert limits.allows(Rung.FULL, books, [Rung.CONFIRM])
    books.wall_s = 52.0
    assert not limits.allows(Rung.FULL, books, [Rung.CONFIRM])
    assert limits.allows(Rung.FULL, books, [])
    assert limits.allows_last(books)
    books.wall_s = 60.0
    assert not limits.allows_last(books)
    assert limits.past_deadline(books.wall_s)


def test_a_short_run_may_begin_although_its_end_cannot_be_reserved():
    books, limits = Ledger(dict.fromkeys(Rung, 5.0)), Limits(Budget(minutes=0.25))
    everything = [Rung.SMOKE, Rung.SCREEN, Rung.FULL, Rung.CONFIRM]
    assert sum(map(books.estimate, everything)) > 15.0
    assert limits.allows(Rung.DRAFT, books, everything)
    books.wall_s = 15.0 * (1 - MOST_RESERVED)
    assert not limits.allows(Rung.DRAFT, books, everything)


def test_with_somebody_to_confirm_more_than_half_is_kept_for_it():
    books, limits = Ledger(PRIORS), Limits(Budget(minutes=1))
    books.reopened(0.0, confirm_s=30.0)
    books.claim(1, Rung.FULL)
    books.complete(1, look(Rung.FULL, 2.0), wall_s=2.0)
    expected = 30.0 + CONFIRM_LOOKS * 2.0
    assert books.estimate(Rung.CONFIRM, 1.0) == expected
    assert books.estimate(Rung.CONFIRM) == SAFETY * expected
    books.wall_s = 60.0 - expected - books.estimate(Rung.FULL) + 0.1
    assert limits.allows(Rung.FULL, books, [Rung.CONFIRM])
    assert not limits.allows(Rung.FULL, books, [Rung.CONFIRM], led=True)
    books.wall_s -= 0.2
    assert limits.allows(Rung.FULL, books, [Rung.CONFIRM], led=True)


@pytest.mark.parametrize("rung", list(Rung))
def test_without_limits_everything_is_allowed(rung):
    books = Ledger(PRIORS)
    books.wall_s = books.evaluations = 10**9
    limits = Limits(Budget())
    assert limits.allows(rung, books, list(Rung))
    assert limits.allows_last(books)


@pytest.mark.parametrize(
    ("given", "spent", "words"),
    [
        ({"evaluations": 9}, {"evaluations": 9}, "all 9 evaluations are spent"),
        ({"evaluations": 9}, {"evaluations": 8}, "1 of 9 evaluations were left, too few for"),
        ({"minutes": 1}, {"wall_s": 60.0}, "all 60 s are spent"),
        ({"minutes": 1}, {"wall_s": 53.0}, "7 of 60 s were left, too few for a look"),
        ({"minutes": 1, "evaluations": 9}, {"evaluations": 9}, "all 9 evaluations are spent"),
        ({"minutes": 1, "evaluations": 9}, {"wall_s": 53.0}, "7 of 60 s were left"),
    ],
)
def test_which_limit_ended_it_is_said(given, spent, words):
    books, limits = Ledger(PRIORS), Limits(Budget(**given))
    books.wall_s = 1.0
    for name, value in spent.items():
        setattr(books, name, value)
    assert not limits.allows(Rung.FULL, books, [Rung.CONFIRM])
    assert limits.refusal(books, Rung, "").startswith(words)
    assert "never run" not in limits.refusal(books, Rung, "")
    assert limits.refusal(books, Rung, "a").endswith("; 1 candidate built, and never run")
    assert limits.refusal(books, Rung, "abc").endswith("; 3 candidates built, and never run")
