"""Whole runs on a made-up device: how they end, what they cost, what they never do."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelwright.errors import JudgeError, UsageError
from kernelwright.records.outcome import Outcome
from kernelwright.records.run import Budget, RunSpec
from kernelwright.records.rung import Rung
from kernelwright.search.loop import resume_run, start_run
from kernelwright.search.observer import Observer
from kernelwright.search.replay import replay_run
from kernelwright.store.store import Store
from kernelwright.testing.simulated import (
    BASELINE_US,
    SimulatedExecutor,
    Truth,
    made_up_candidates,
    made_up_task,
    smooth_truth,
)


def constant(**change):
    return lambda candidate: Truth(**change)


def test_the_best_is_found_and_confirmed(run, store):
    summary = run(effort="thorough")
    assert summary.run.status == "improved"
    best = max(store.candidates(summary.run.id), key=lambda one: smooth_truth(one).speedup)
    assert smooth_truth(summary.best).speedup >= 0.97 * smooth_truth(best).speedup
    assert summary.confirmed.rung is Rung.CONFIRM
    assert summary.confirmed.candidate == summary.best.id
    assert summary.speedup == pytest.approx(smooth_truth(summary.best).speedup, rel=0.05)


def test_of_runs_that_begin_within_a_second_the_last_is_the_latest(run, store):
    for _ in range(6):
        summary = run(start=1, proposers=())
        assert store.run("latest").id == summary.run.id


def test_cheap_looks_are_many_and_dear_ones_few(run):
    counts = run(effort="thorough").counts
    looks = counts.by_rung
    assert looks["smoke"] > 2 * looks["screen"]
    assert looks["screen"] >= looks["full"] > looks["confirm"] == 1
    seconds = counts.device_s_by_rung
    assert seconds["full"] + seconds["confirm"] > 0.7 * sum(seconds.values())


@pytest.mark.parametrize(
    ("truth", "status"),
    [
        (constant(speedup=1.3), "improved"),
        (constant(speedup=1.0), "no_improvement"),
        (constant(speedup=0.8), "no_improvement"),
        (constant(outcome=Outcome.WRONG_VALUES, fails_at=Rung.SMOKE), "no_improvement"),
        (constant(outcome=Outcome.BUILD_ERROR), "no_improvement"),
        (constant(speedup=1.5, outcome=Outcome.OUT_OF_BOUNDS, fails_at=Rung.CONFIRM),
         "no_improvement"),
    ],
)  # fmt: skip
def test_how_a_run_ends(run, truth, status):
    summary = run(truth)
    assert summary.run.status == status
    assert (summary.best is None) == all(
        truth(one).outcome is not Outcome.PASSED for one in made_up_candidates(1)
    )


def test_a_leader_that_fails_its_confirm_is_dropped_and_the_next_one_tried(run, store):
    names = {one.id: at for at, one in enumerate(made_up_candidates(3))}

    def truth(candidate):
        at = names[candidate.id]
        if at < 2:
            return Truth(speedup=3.0 - at, outcome=Outcome.TAMPERING, fails_at=Rung.CONFIRM)
        return Truth(speedup=1.4)

    summary = run(truth, start=3, proposers=())
    assert summary.run.status == "improved"
    assert names[summary.best.id] == 2
    confirms = store.evaluations(summary.run.id, rung=Rung.CONFIRM)
    assert [names[stored.evaluation.candidate] for stored in confirms] == [0, 1, 2]


def test_a_target_ends_the_run_early(run):
    reached = run(constant(speedup=2.0), target=1.8, start=6)
    assert reached.run.status == "improved"
    assert "target" in reached.reason
    assert reached.counts.by_rung["full"] == 1
    assert run(constant(speedup=1.5), target=1.8, start=6).counts.by_rung["full"] > 1


def test_nothing_left_to_win_is_a_result(run):
    floor_us = {name: time_us / 1.53 for name, time_us in BASELINE_US.items()}
    summary = run(constant(speedup=1.5), floor_us=floor_us, start=6)
    assert summary.run.status == "nothing_left_to_win"
    assert summary.counts.by_rung["full"] == 1
    assert "roofline" in summary.reason


def test_twins_are_measured_once_and_told_like_the_first(run, store):
    summary = run(lambda one: Truth(speedup=1.5, binary="the same"), start=4, drafts=2)
    assert summary.counts.by_rung["smoke"] == summary.counts.by_rung["full"] == 1
    copies = [found.evaluation for found in store.evaluations(summary.run.id)
              if found.evaluation.copied_from]  # fmt: skip
    originals = {
        found.evaluation.candidate
        for found in store.evaluations(summary.run.id)
        if found.evaluation.rung is Rung.FULL and not found.evaluation.copied_from
    }
    assert {copy.copied_from for copy in copies} == originals
    # Every twin has the same looks as the original, at no cost.
    rungs = Counter((copy.candidate, copy.rung) for copy in copies)
    assert set(rungs.values()) == {1}
    assert len(rungs) == 3 * (summary.counts.drafted - 1)
    assert sum(copy.device_seconds for copy in copies) == 0


def test_without_anything_to_try_the_user_is_told_what_to_do(store):
    executor = SimulatedExecutor()
    with pytest.raises(UsageError) as problem:
        start_run(store, executor, made_up_task(), RunSpec(task="", device="cpu", threads=1))
    assert "--start" in problem.value.hint
    assert store.runs() == []


def test_a_budget_too_small_for_a_confirmed_number_says_so(run):
    summary = run(evaluations=3)
    assert summary.run.status == "budget"
    assert "4 evaluations" in summary.reason
    assert summary.spent.evaluations == 0


def test_the_smallest_budget_ends_with_a_confirmed_number(run):
    summary = run(constant(speedup=1.3), evaluations=4)
    assert summary.run.status == "improved"
    assert summary.spent.evaluations == 4


def test_a_job_that_hangs_cannot_outlast_the_wall_budget(run, store):
    seconds = {Rung.FULL: 10_000.0}
    executor = SimulatedExecutor(lambda one: Truth(speedup=1.5, seconds=seconds))
    summary = run(executor=executor, minutes=1)
    assert summary.run.status == "budget"
    assert executor.clock() == pytest.approx(60)
    assert replay_run(store, summary.run.id).matches


class Confirming(SimulatedExecutor):
    """Says how long a confirm takes to open, as a real device does."""

    def session(self, task):
        return super().session(task).model_copy(update={"confirm_s": 25.0})


def test_a_short_run_keeps_the_time_that_its_confirm_is_expected_to_take(run):
    seconds = {Rung.FULL: 2.0, Rung.CONFIRM: 29.0}
    executor = Confirming(lambda one: Truth(smooth_truth(one).speedup, seconds=seconds))
    summary = run(executor=executor, minutes=1)
    assert summary.confirmed is not None
    assert summary.counts.by_rung["full"] > 1
    assert executor.clock() <= 60


@settings(max_examples=25)
@given(
    evaluations=st.one_of(st.none(), st.integers(1, 60)),
    minutes=st.one_of(st.none(), st.floats(0.1, 3)),
    slow=st.floats(0.1, 5),
    looks=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_no_budget_is_ever_exceeded(evaluations, minutes, slow, looks, seed):
    def truth(candidate):
        usual = smooth_truth(candidate)
        seconds = {rung: slow * (1 + rung) for rung in Rung}
        return Truth(speedup=usual.speedup, seconds=seconds)

    store = Store.open("sqlite://")
    executor = SimulatedExecutor(truth, drafts=2, looks=looks)
    spec = RunSpec(task="", device="cpu", proposers=("tune",), effort="quick", threads=1,
                   seed=seed, budget=Budget(evaluations=evaluations, minutes=minutes))  # fmt: skip
    summary = start_run(
        store, executor, made_up_task(), spec, start=made_up_candidates(3), clock=executor.clock
    )
    claims = [claim for claim in store.claims(summary.run.id) if claim.rung > Rung.DRAFT]
    if evaluations is not None:
        assert len(claims) <= evaluations
    if minutes is not None:
        assert executor.clock() <= 60 * minutes + 1e-6
        assert summary.spent.wall_s <= 60 * minutes + 1e-6
    assert replay_run(store, summary.run.id).matches
    # Hard limits must not make it idle: with room for a confirmed number there is one.
    if (evaluations is None or evaluations >= 4) and (minutes is None or minutes * 60 > 60 * slow):
        assert summary.confirmed is not None
    store.close()


class Watcher(Observer):
    def __init__(self):
        self.seen = []

    def opening(self, task):
        self.seen.append("opening")

    def session(self, run, session, progress):
        assert progress.spent == run.spent
        assert progress.budget == run.spec.budget
        assert progress.leader is None
        self.seen.append("session")

    def dispatched(self, candidate, rung):
        self.seen.append(f"dispatched {rung.word}")

    def drafted(self, candidate, evaluation):
        self.seen.append("drafted")

    def evaluated(self, candidate, evaluation, progress):
        assert progress.spent.evaluations > 0
        self.seen.append(f"evaluated {evaluation.rung.word}")

    def promoted(self, candidate, rung):
        self.seen.append(f"promoted {rung.word}")

    def champion(self, candidate, evaluation, speedup):
        assert speedup > 0
        self.seen.append("champion")

    def stopped(self, summary):
        self.seen.append(f"stopped {summary.run.status}")


def test_an_observer_sees_a_candidate_climb(run):
    watcher = Watcher()
    run(constant(speedup=1.5), start=1, proposers=(), observer=watcher)
    assert watcher.seen == [
        "opening", "session", "dispatched draft", "drafted", "dispatched smoke", "evaluated smoke",
        "promoted screen", "dispatched screen", "evaluated screen", "promoted full",
        "dispatched full", "champion", "evaluated full", "promoted confirm",
        "dispatched confirm", "evaluated confirm", "stopped improved",
    ]  # fmt: skip


def test_the_executor_is_closed_however_a_run_ends(store):
    closed = []

    class Breaks(SimulatedExecutor):
        def wait(self, timeout=None):
            raise JudgeError("the verifier died")

        def close(self):
            closed.append(True)

    executor = Breaks()
    with pytest.raises(JudgeError):
        start_run(
            store, executor, made_up_task(), spec_of_start(), start=made_up_candidates(1),
            clock=executor.clock,
        )  # fmt: skip
    assert closed
    broken = store.runs()[0]
    assert broken.status == "interrupted"
    assert broken.notes["reason"] == "the verifier died"
    executor = SimulatedExecutor()
    resumed = resume_run(store, executor, broken.id, clock=executor.clock)
    assert resumed.run.status != "interrupted"


def spec_of_start():
    return RunSpec(task="", device="cpu", proposers=(), threads=1)


def test_posts_carry_the_evaluation_that_proves_them(run, store):
    def truth(candidate):
        if candidate.tunables["UNROLL"] == 2:
            return Truth(outcome=Outcome.WRONG_VALUES, fails_at=Rung.SMOKE)
        return smooth_truth(candidate)

    summary = run(truth, effort="thorough")
    posts = store.posts(summary.run.id)
    numbers = {found.number: found.evaluation for found in store.evaluations(summary.run.id)}
    wins = [post for post in posts if post.kind == "win"]
    traps = [post for post in posts if post.kind == "trap"]
    assert wins
    assert traps
    assert all(numbers[post.evaluation].rung is Rung.FULL for post in wins)
    assert all(not numbers[post.evaluation].passed for post in traps)
    assert all("UNROLL" in post.axis for post in traps)


def test_what_is_said_to_be_left_when_nothing_passes_is_true(run):
    wrong = constant(outcome=Outcome.WRONG_VALUES, fails_at=Rung.SMOKE)
    summary = run(wrong)
    assert summary.counts.drafted == 4
    assert summary.reason.startswith("no candidate passed a timed look, so that no other values")
    assert summary.rejection.look.outcome is Outcome.WRONG_VALUES
    assert summary.rejection.look.candidate == made_up_candidates(1)[0].id


def test_kernels_that_were_tried_with_one_value_only_are_counted(run):
    sources = [one.source for one in made_up_candidates(3)]

    def truth(candidate):
        bad = candidate.source in sources[:2]
        outcome = Outcome.WRONG_VALUES if bad else Outcome.PASSED
        return Truth(speedup=1.5, outcome=outcome, fails_at=Rung.SMOKE)

    summary = run(truth, start=3, proposers=())
    assert "but other values of 2 kernels that passed no timed look" in summary.reason
    assert summary.rejection is None
