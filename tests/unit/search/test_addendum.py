"""A confirm that was asked for: an input of the run that costs it nothing and replays."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.errors import JudgeError, StoreError, UsageError
from kernelwright.records.outcome import Outcome
from kernelwright.records.run import Budget
from kernelwright.records.rung import Rung
from kernelwright.search.addendum import confirm_plan, confirm_run, remember_audit
from kernelwright.search.loop import resume_run, start_run
from kernelwright.search.observer import Observer
from kernelwright.search.replay import replay_run
from kernelwright.search.rungs import plans_for
from kernelwright.search.summary import summarise
from kernelwright.store.store import Store
from kernelwright.store.writer import Writer
from kernelwright.testing.simulated import (
    SimulatedExecutor,
    Truth,
    made_up_candidates,
    made_up_task,
    smooth_truth,
)

from .conftest import spec_of


class Real(SimulatedExecutor):
    simulated = False


def always(**fields):
    return lambda candidate: Truth(**fields)


def cut_off(candidate):
    """A confirm that the budget of a minute cannot pay."""
    return Truth(speedup=1.5, seconds={Rung.CONFIRM: 80})


def begin(store, executor, **change):
    return start_run(store, executor, made_up_task(), spec_of(**change),
                     start=made_up_candidates(4), clock=executor.clock)  # fmt: skip


def ask(store, run, truth=cut_off, watcher=None, executor=None):
    executor = executor or Real(truth)
    return confirm_run(store, executor, run.run.id, observer=watcher, clock=executor.clock)


@pytest.fixture
def unconfirmed(store):
    found = begin(store, Real(cut_off), minutes=1, proposers=())
    assert found.run.status == "budget"
    return found


def test_a_run_without_a_number_gets_one(store, unconfirmed):
    done = ask(store, unconfirmed)
    assert done.run.status == "improved"
    assert done.speedup == pytest.approx(1.5, rel=0.1)
    assert done.reason == unconfirmed.reason
    assert replay_run(store, done.run.id).matches


def test_who_is_said_to_lead_is_whom_the_confirm_is_made_of(store, unconfirmed):
    assert unconfirmed.best is None
    led = unconfirmed.leading
    assert led.rung is Rung.FULL
    done = ask(store, unconfirmed)
    assert done.run.best == led.candidate.id
    assert done.leading is None


def test_whoever_failed_a_confirm_leads_no_more(store, unconfirmed):
    led = unconfirmed.leading.candidate.id
    done = ask(store, unconfirmed, always(outcome=Outcome.WRONG_VALUES, fails_at=Rung.CONFIRM))
    assert not done.run.best
    assert done.leading is not None
    assert done.leading.candidate.id != led
    again = Real(cut_off)
    ask(store, unconfirmed, executor=again)
    assert again.judged[0][1] == done.leading.candidate.id


def test_the_judge_is_asked_for_nothing_but_the_confirm_of_the_leader(store, unconfirmed):
    executor = Real(cut_off)
    done = ask(store, unconfirmed, executor=executor)
    ((_, candidate, rung),) = executor.judged
    assert (candidate, rung) == (done.run.best, Rung.CONFIRM)


def test_what_it_costs_is_spent_and_not_taken_from_the_budget(store, unconfirmed):
    done = ask(store, unconfirmed)
    assert done.spent.wall_s == pytest.approx(unconfirmed.spent.wall_s + 80)
    assert done.spent.device_s == pytest.approx(unconfirmed.spent.device_s + 80)
    assert done.spent.evaluations == unconfirmed.spent.evaluations + 1
    assert done.budget.minutes == pytest.approx(1 + 80 / 60)
    left_before = 60 * unconfirmed.budget.minutes - unconfirmed.spent.wall_s
    assert 60 * done.budget.minutes - done.spent.wall_s == pytest.approx(left_before)


def test_the_search_can_still_be_given_more(store, unconfirmed):
    ask(store, unconfirmed)
    executor = Real(always(speedup=1.5))
    done = resume_run(store, executor, unconfirmed.run.id, more=Budget(minutes=3),
                      clock=executor.clock)  # fmt: skip
    assert done.run.status == "improved"
    assert replay_run(store, done.run.id).matches


def test_a_confirm_that_is_not_faster_is_a_no(store, unconfirmed):
    done = ask(store, unconfirmed, always(speedup=0.5))
    assert done.run.status == "no_improvement"
    assert done.best is not None
    assert replay_run(store, done.run.id).matches


def test_a_leader_that_fails_is_no_best_and_the_next_one_can_be_asked_for(store, unconfirmed):
    fails = always(outcome=Outcome.WRONG_VALUES, fails_at=Rung.CONFIRM)
    dropped = ask(store, unconfirmed, fails)
    assert (dropped.run.status, dropped.best) == ("no_improvement", None)
    done = ask(store, unconfirmed)
    assert done.run.status == "improved"
    first, second = store.evaluations(done.run.id, rung=Rung.CONFIRM)
    assert first.evaluation.candidate != second.evaluation.candidate
    assert replay_run(store, done.run.id).matches


@pytest.fixture
def improved(store):
    found = begin(store, Real(always(speedup=1.5)), minutes=9, proposers=())
    assert found.run.status == "improved"
    return found


def test_again_for_the_best_and_the_newest_number_counts(store, improved):
    done = ask(store, improved, always(speedup=1.2))
    assert done.run.best == improved.run.best
    assert done.run.status == "improved"
    assert done.speedup == pytest.approx(1.2, rel=0.1)
    assert [one.candidate for one in done.earlier] == [improved.run.best]
    assert done.earlier[0] == improved.confirmed
    again = ask(store, improved, always(speedup=1.4))
    assert again.speedup == pytest.approx(1.4, rel=0.1)
    assert len(again.earlier) == 2
    assert replay_run(store, done.run.id).matches


def test_the_newest_number_counts_also_where_it_is_a_no(store, improved):
    assert ask(store, improved, always(speedup=0.9)).run.status == "no_improvement"
    assert ask(store, improved, always(speedup=1.5)).run.status == "improved"
    fails = always(outcome=Outcome.CRASHED)
    assert ask(store, improved, fails).run.status == "no_improvement"
    assert replay_run(store, improved.run.id).matches


def test_a_run_that_has_ended_for_another_reason_cannot_be_continued_after_it_either(
    store, improved
):
    ask(store, improved, always(outcome=Outcome.CRASHED))
    executor = Real(always(speedup=1.5))
    with pytest.raises(UsageError, match="everything was tried"):
        resume_run(store, executor, improved.run.id, more=Budget(minutes=2), clock=executor.clock)


class Interrupted(Real):
    def wait(self, timeout=None):
        if sum(rung is Rung.FULL for _, _, rung in self.judged) > 1:
            raise KeyboardInterrupt
        return super().wait(timeout)


def test_a_run_that_was_put_down_gets_its_number_and_may_go_on_later(store):
    part = begin(store, Interrupted(), minutes=9)
    assert part.run.status == "interrupted"
    in_flight = len(store.claims(part.run.id)) - len(store.evaluations(part.run.id))
    assert in_flight
    done = ask(store, part, smooth_truth)
    assert done.run.status in ("improved", "no_improvement")
    assert done.run.best
    assert "put down" in done.reason
    assert replay_run(store, part.run.id).matches
    with pytest.raises(UsageError, match="is finished"):
        resume_run(store, Real(), part.run.id)
    executor = Real()
    more = resume_run(store, executor, part.run.id, more=Budget(minutes=1), clock=executor.clock)
    assert more.run.status == "improved"
    assert more.spent.evaluations > done.spent.evaluations
    assert replay_run(store, part.run.id).matches


def test_a_candidate_that_climbed_less_high_is_confirmed_where_nobody_leads(store):
    def truth(candidate):
        return Truth(speedup=1.5, seconds={Rung.FULL: 90})

    part = begin(store, Real(truth), minutes=1, proposers=())
    assert (part.run.status, store.evaluations(part.run.id, rung=Rung.FULL)) == ("budget", [])
    done = ask(store, part, truth)
    assert done.run.status == "improved"
    assert replay_run(store, part.run.id).matches


def test_nobody_to_confirm_is_said_with_what_to_do(store):
    part = begin(store, Real(), evaluations=3)
    with pytest.raises(UsageError, match="no candidate passed a timed look") as caught:
        ask(store, part)
    assert caught.value.hint.startswith(f"kernelwright runs resume {part.run.id} --evaluations")
    assert store.owner(part.run.id) == ("", 0.0)


class Breaks(Real):
    def __init__(self, problem):
        super().__init__(cut_off)
        self.problem, self.closed = problem, False

    def wait(self, timeout=None):
        raise self.problem

    def close(self):
        self.closed = True


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), JudgeError("the verifier broke off")])
def test_whoever_is_stopped_midway_leaves_the_run_as_it_was(store, unconfirmed, problem):
    events = store.events(unconfirmed.run.id)
    executor = Breaks(problem)
    with pytest.raises(type(problem)):
        ask(store, unconfirmed, executor=executor)
    assert executor.closed
    assert summarise(store, unconfirmed.run.id) == unconfirmed
    assert store.events(unconfirmed.run.id) == events
    assert store.owner(unconfirmed.run.id) == ("", 0.0)
    assert ask(store, unconfirmed).run.status == "improved"


def test_a_run_that_somebody_works_on_is_left_alone(store, unconfirmed, monkeypatch):
    Writer(store).take(unconfirmed.run.id)
    monkeypatch.setattr("kernelwright.store.leases.alive", lambda owner, until: True)
    executor = Real(cut_off)
    with pytest.raises(UsageError, match="is being worked on by process"):
        ask(store, unconfirmed, executor=executor)
    assert executor.judged == []


def test_a_simulated_run_goes_on_after_it(store):
    part = begin(store, SimulatedExecutor(cut_off), minutes=1, proposers=())
    assert ask(store, part).run.status == "improved"
    executor = SimulatedExecutor(always(speedup=1.5))
    done = resume_run(store, executor, part.run.id, more=Budget(minutes=3), clock=executor.clock)
    assert done.run.status == "improved"
    assert replay_run(store, part.run.id).matches


class Watcher(Observer):
    def __init__(self):
        self.said = []

    def promoted(self, candidate, rung):
        self.said.append(("promoted", rung))

    def evaluated(self, candidate, evaluation, progress):
        self.said.append(("evaluated", evaluation.rung))

    def stopped(self, summary):
        self.said.append(("stopped", summary.run.status))


def test_who_watches_hears_of_it(store, unconfirmed):
    watcher = Watcher()
    ask(store, unconfirmed, watcher=watcher)
    assert watcher.said == [
        ("promoted", Rung.CONFIRM),
        ("evaluated", Rung.CONFIRM),
        ("stopped", "improved"),
    ]


def test_a_run_without_a_confirm_in_its_plans_is_confirmed_as_its_effort_says(run, store):
    plans = plans_for("quick")
    del plans[Rung.CONFIRM]
    found = run(always(speedup=1.5), plans=plans.values(), proposers=())
    assert found.best is None
    assert confirm_plan(found.run) == plans_for("quick")[Rung.CONFIRM]
    assert ask(store, found).run.status == "improved"
    assert replay_run(store, found.run.id).matches


def test_a_past_that_cannot_be_repeated_is_not_added_to(store, unconfirmed, monkeypatch):
    monkeypatch.setattr("kernelwright.search.rungs.ETA", 2)
    monkeypatch.setattr("kernelwright.search.board.TEXT", 3)
    monkeypatch.setattr("kernelwright.search.board._change", lambda *_: ("other", "axis"))
    with pytest.raises(StoreError, match="come out differently"):
        ask(store, unconfirmed)


def test_an_audit_is_remembered_and_decides_nothing(store, improved):
    before = summarise(store, improved.run.id)
    who = {"id": improved.run.best}
    told = {"verdict": "holds", "at": "now", "differences": [], "candidate": who}
    remember_audit(store, improved.run.id, told)
    (event,) = store.events(improved.run.id, "audited")
    assert event.data == told
    after = summarise(store, improved.run.id)
    assert [one.verdict for one in after.audits] == ["holds"]
    assert replace(after, audits=before.audits) == before
    assert store.owner(improved.run.id) == ("", 0.0)
    assert replay_run(store, improved.run.id).matches


@settings(max_examples=25)
@given(
    steps=st.lists(st.sampled_from(["confirm", "more", "fails"]), min_size=1, max_size=5),
    seconds=st.floats(1, 200),
    minutes=st.floats(0.2, 2),
    seed=st.integers(0, 99),
)
def test_however_often_it_is_asked_budgets_hold_and_decisions_repeat(steps, seconds, minutes, seed):
    def truth(candidate):
        return Truth(smooth_truth(candidate).speedup, seconds={Rung.CONFIRM: seconds})

    store = Store.open("sqlite://")
    found = begin(store, Real(truth), minutes=minutes, seed=seed)
    for step in steps:
        try:
            if step == "more":
                executor = Real(truth)
                found = resume_run(store, executor, found.run.id, more=Budget(minutes=1),
                                   clock=executor.clock)  # fmt: skip
            else:
                fails = always(outcome=Outcome.CRASHED, seconds={Rung.CONFIRM: seconds})
                found = ask(store, found, truth if step == "confirm" else fails)
        except UsageError:
            continue
        assert found.spent.wall_s <= 60 * found.budget.minutes + 1e-6
    assert replay_run(store, found.run.id).matches
    store.close()
