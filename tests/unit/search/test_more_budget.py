"""A run that lacked budget goes on with more: what was spent stays spent, limits stay hard."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.errors import PrerequisiteError, UsageError
from kernelwright.records.outcome import Outcome
from kernelwright.records.run import Budget
from kernelwright.records.rung import Rung
from kernelwright.search import outlook
from kernelwright.search.loop import resume_run, start_run
from kernelwright.search.observer import Observer
from kernelwright.search.replay import replay_run
from kernelwright.search.summary import summarise
from kernelwright.store.store import Store
from kernelwright.testing.simulated import (
    SimulatedExecutor,
    Truth,
    made_up_candidates,
    made_up_task,
    smooth_truth,
)

from .conftest import spec_of


class Real(SimulatedExecutor):
    """Does not repeat itself: a resumed run reads its past from the store."""

    simulated = False


class Watcher(Observer):
    def __init__(self):
        self.rungs = []
        self.budgets = []

    def session(self, run, session, progress):
        self.budgets.append(progress.budget)

    def dispatched(self, candidate, rung):
        self.rungs.append(rung)


def slow_confirm(seconds):
    return lambda candidate: Truth(speedup=1.5, seconds={Rung.CONFIRM: seconds})


def begin(store, executor, **change):
    return start_run(store, executor, made_up_task(), spec_of(**change),
                     start=made_up_candidates(4), clock=executor.clock)  # fmt: skip


def go_on(store, run, executor=None, watcher=None, **more):
    executor = executor or Real()
    given = Budget(**more) if more else None
    return resume_run(
        store, executor, run.run.id, more=given, observer=watcher, clock=executor.clock
    )


def test_a_confirm_that_was_cut_off_is_made_first_and_ends_in_a_number(store):
    part = begin(store, Real(slow_confirm(80)), minutes=1, proposers=())
    assert part.run.status == "budget"
    assert part.spent.wall_s == pytest.approx(60)
    looks = part.spent.evaluations
    again, watcher = Real(slow_confirm(80)), Watcher()
    done = go_on(store, part, again, watcher, minutes=2)
    assert done.run.status == "improved"
    assert again.judged[0][2] is Rung.CONFIRM
    assert watcher.budgets == [Budget(minutes=3)]
    assert done.budget == Budget(minutes=3)
    assert done.spent.wall_s == pytest.approx(60 + 80)
    assert done.spent.evaluations == looks + 1
    assert replay_run(store, part.run.id).matches


def test_a_second_cut_is_again_a_budget_that_ended(store):
    part = begin(store, Real(slow_confirm(200)), minutes=1, proposers=())
    for total in (2, 3):
        part = go_on(store, part, Real(slow_confirm(200)), minutes=1)
        assert part.run.status == "budget"
        assert part.spent.wall_s == pytest.approx(60 * total)
        assert part.budget == Budget(minutes=total)
    assert go_on(store, part, Real(slow_confirm(200)), minutes=4).run.status == "improved"
    assert replay_run(store, part.run.id).matches


class SecondFullHangs(Real):
    """The first candidate leads, the second keeps the device beyond any deadline."""

    def judge(self, job):
        found = super().judge(job)
        fulls = sum(rung is Rung.FULL for _, _, rung in self.judged)
        hangs = job.plan.rung is Rung.FULL and fulls == 2
        return found.model_copy(update={"seconds": 100.0}) if hangs else found


def alike(candidate):
    return Truth(speedup=1.5)


def test_the_confirm_of_the_leader_comes_before_any_other_new_look(store):
    part = begin(store, SecondFullHangs(alike), minutes=1)
    assert part.run.status == "budget"
    assert not store.evaluations(part.run.id, rung=Rung.CONFIRM)
    watcher = Watcher()
    done = go_on(store, part, Real(alike), watcher, minutes=5)
    assert done.run.status == "improved"
    looks = [rung for rung in watcher.rungs if rung > Rung.DRAFT]
    assert looks[0] is Rung.CONFIRM
    assert len(looks) > 1
    assert replay_run(store, part.run.id).matches


def test_more_looks_for_a_budget_that_was_too_small(store):
    part = begin(store, Real(), evaluations=3)
    assert (part.run.status, part.spent.evaluations) == ("budget", 0)
    done = go_on(store, part, evaluations=9)
    assert done.run.status == "improved"
    assert 4 <= done.spent.evaluations <= 12
    assert done.budget == Budget(evaluations=12)
    assert replay_run(store, part.run.id).matches


def test_a_winner_of_a_spent_budget_may_be_beaten_with_more(store):
    part = begin(store, Real(), evaluations=16, effort="thorough")
    assert part.run.status == "improved"
    done = go_on(store, part, evaluations=60)
    assert done.run.status == "improved"
    assert done.speedup >= part.speedup
    assert done.spent.evaluations > part.spent.evaluations
    assert replay_run(store, part.run.id).matches


def test_an_interrupted_run_may_be_given_more_too(store):
    class Interrupted(Real):
        def wait(self, timeout=None):
            if len(self.judged) > 6:
                raise KeyboardInterrupt
            return super().wait(timeout)

    part = begin(store, Interrupted(), minutes=1)
    assert part.run.status == "interrupted"
    again = go_on(store, part, Interrupted(), minutes=1)
    assert again.run.status == "interrupted"
    assert again.budget == Budget(minutes=2)
    done = go_on(store, again)
    assert done.run.status == "improved"
    assert done.budget == Budget(minutes=2)
    assert replay_run(store, part.run.id).matches


def test_a_simulated_device_goes_on_like_any_other(store):
    part = begin(store, SimulatedExecutor(slow_confirm(80)), minutes=1, proposers=())
    assert part.run.status == "budget"
    done = go_on(store, part, SimulatedExecutor(slow_confirm(80)), minutes=2)
    assert done.run.status == "improved"
    assert replay_run(store, part.run.id).matches


def test_a_device_that_does_not_open_leaves_the_run_as_it_was(store):
    class Closed(Real):
        def open(self, task, known=None):
            raise PrerequisiteError("the device is gone")

    part = begin(store, Real(slow_confirm(80)), minutes=1, proposers=())
    events = store.events(part.run.id)
    with pytest.raises(PrerequisiteError):
        go_on(store, part, Closed(), minutes=2)
    assert summarise(store, part.run.id) == part
    assert store.events(part.run.id) == events
    assert store.owner(part.run.id) == ("", 0.0)


@pytest.mark.parametrize(
    ("change", "more", "words"),
    [
        ({"minutes": 1}, {}, "is finished"),
        ({"minutes": 1}, {"evaluations": 9}, "no limit of evaluations, so 9 more"),
        ({"evaluations": 3}, {"minutes": 2}, "no limit of minutes, so 2 more"),
    ],
)
def test_what_cannot_be_added_is_refused(store, change, more, words):
    part = begin(store, Real(slow_confirm(80)), proposers=(), **change)
    assert part.run.status == "budget"
    with pytest.raises(UsageError, match=words) as caught:
        go_on(store, part, **more)
    assert caught.value.hint
    assert store.owner(part.run.id) == ("", 0.0)


def test_a_run_that_ended_for_another_reason_is_refused(store):
    done = begin(store, Real(lambda one: Truth(speedup=1.5)), minutes=9, proposers=())
    assert done.reason == "everything was tried"
    with pytest.raises(UsageError, match="everything was tried") as caught:
        go_on(store, done, minutes=2)
    assert "--start" in caught.value.hint
    assert store.owner(done.run.id) == ("", 0.0)


@settings(max_examples=25)
@given(
    parts=st.lists(st.tuples(st.floats(0.1, 1.5), st.integers(1, 12)), min_size=2, max_size=4),
    slow=st.floats(0.1, 5),
    looks=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_no_budget_is_ever_exceeded_however_often_it_grows(parts, slow, looks, seed):
    def truth(candidate):
        seconds = {rung: slow * (1 + rung) for rung in Rung}
        return Truth(speedup=smooth_truth(candidate).speedup, seconds=seconds)

    store = Store.open("sqlite://")
    minutes, evaluations = parts[0]
    executor = Real(truth, drafts=2, looks=looks)
    found = begin(store, executor, minutes=minutes, evaluations=evaluations, seed=seed)
    for more_minutes, more_evaluations in parts[1:]:
        before = found.spent
        executor = Real(truth, drafts=2, looks=looks)
        more = {"minutes": more_minutes, "evaluations": more_evaluations}
        try:
            found = go_on(store, found, executor, **more)
        except UsageError:
            break
        minutes, evaluations = minutes + more_minutes, evaluations + more_evaluations
        assert found.spent.wall_s >= before.wall_s
        assert found.spent.evaluations >= before.evaluations
        assert found.spent.wall_s <= 60 * minutes + 1e-6
        assert found.spent.evaluations <= evaluations
    assert replay_run(store, found.run.id).matches
    store.close()


@pytest.mark.parametrize("limit", [{"minutes": 0.5}, {"evaluations": 9}])
def test_a_run_says_which_limit_ended_it_and_who_was_never_run(store, limit):
    slow = lambda candidate: Truth(speedup=1.5, seconds={Rung.SMOKE: 3.0})  # noqa: E731
    found = begin(store, Real(slow), **limit)
    what = "30 s" if "minutes" in limit else "9 evaluations"
    assert what in found.reason
    looked = {one.evaluation.candidate for one in store.evaluations(found.run.id)
              if one.evaluation.rung > Rung.DRAFT}  # fmt: skip
    built = {one.evaluation.candidate for one in store.evaluations(found.run.id, rung=Rung.DRAFT)
             if one.evaluation.passed}  # fmt: skip
    unrun = len(built - looked)
    assert unrun
    assert f"; {unrun} candidate" in found.reason
    assert replay_run(store, found.run.id).matches


@pytest.mark.parametrize("confirm_s", [30, 200])
def test_what_is_proposed_after_a_budget_is_enough_for_a_number(store, confirm_s):
    slow = slow_confirm(confirm_s)
    part = begin(store, Real(slow), minutes=0.3, proposers=())
    proposals = []
    while part.run.status == "budget":
        proposals.append(int(part.way_on().rpartition("--minutes ")[2]))
        assert len(proposals) < 6
        part = go_on(store, part, Real(slow), minutes=proposals[-1])
    assert part.run.status == "improved"
    assert all(later >= sooner for sooner, later in itertools.pairwise(proposals))


def test_who_was_never_looked_at_in_full_needs_more_time_than_who_was(store):
    part = begin(store, Real(slow_confirm(80)), minutes=1, proposers=())
    looks, events = store.evaluations(part.run.id), store.events(part.run.id)
    screened, full = (
        outlook.seconds(outlook.path(part.run, passed), part.run, events, looks, [])
        for passed in (Rung.SCREEN, Rung.FULL)
    )
    assert screened > full > 0
    assert outlook.path(part.run, None)[0] is Rung.SMOKE
    assert outlook.path(part.run, Rung.FULL) == (Rung.CONFIRM,)


@pytest.mark.parametrize("more", [{}, {"minutes": 2}])
@pytest.mark.parametrize("speedup", [0.8, 1.5])
def test_a_run_with_nothing_left_says_what_would_help_and_not_more_budget(store, more, speedup):
    done = begin(store, Real(lambda one: Truth(speedup=speedup)), minutes=9, proposers=())
    with pytest.raises(UsageError, match="finished, and not for want of budget") as caught:
        go_on(store, done, **more)
    hint = caught.value.hint
    assert "runs resume" not in hint
    assert "--start" in hint
    assert (f"kernelwright confirm {done.run.id}" in hint) is (speedup < 1)
    assert ("from its winner" in hint) is (speedup > 1)
    assert store.owner(done.run.id) == ("", 0.0)


def test_where_nobody_passed_no_confirm_is_proposed(store):
    wrong = lambda one: Truth(outcome=Outcome.WRONG_VALUES, fails_at=Rung.SMOKE)  # noqa: E731
    done = begin(store, Real(wrong), minutes=9)
    with pytest.raises(UsageError, match="no candidate passed") as caught:
        go_on(store, done)
    assert "nothing left to try" in caught.value.hint
    assert "confirm" not in caught.value.hint
