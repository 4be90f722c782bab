"""Interrupting, resuming and auditing: the past is repeated in thought, never in deed."""

import pytest
from sqlalchemy import text

from kernelwright.candidates.settle import settled
from kernelwright.errors import JudgeError, PrerequisiteError, StoreError, UsageError
from kernelwright.records.job import BaselineTime
from kernelwright.records.rung import Rung
from kernelwright.report.summary import run_text
from kernelwright.search.loop import resume_run, start_run
from kernelwright.search.replay import replay_run
from kernelwright.store import leases
from kernelwright.store.sealed import seal, unsealed
from kernelwright.store.store import Store
from kernelwright.store.writer import Writer
from kernelwright.testing.simulated import (
    BASELINE_US,
    SimulatedExecutor,
    made_up_candidates,
    made_up_task,
)

from .conftest import spec_of


class Interrupted(SimulatedExecutor):
    """Ctrl-C after some answers."""

    def __init__(self, after, **change):
        super().__init__(**change)
        self._after = after

    def wait(self, timeout=None):
        if self._after == 0:
            raise KeyboardInterrupt
        self._after -= 1
        return super().wait(timeout)


class Real(SimulatedExecutor):
    """Does not repeat itself: what was in flight is really done again."""

    simulated = False


def begin(store, executor, **change):
    return start_run(store, executor, made_up_task(), spec_of(**change),
                     start=made_up_candidates(4), clock=executor.clock)  # fmt: skip


def decisions(store, run_id):
    claims = [(claim.number, claim.candidate, claim.rung) for claim in store.claims(run_id)]
    looks = [(found.sequence, found.number) for found in store.evaluations(run_id)]
    return claims, looks


@pytest.mark.parametrize("after", [0, 1, 2, 7, 20, 33])
def test_a_landscape_run_ends_with_the_same_decisions_when_resumed(store, after):
    whole = begin(store, SimulatedExecutor(drafts=2))
    part = begin(store, Interrupted(after, drafts=2))
    assert part.run.status == "interrupted"
    assert store.run(part.run.id).status == "interrupted"
    again = SimulatedExecutor(drafts=2)
    resumed = resume_run(store, again, part.run.id, clock=again.clock)
    assert (resumed.run.status, resumed.run.best) == (whole.run.status, whole.run.best)
    assert decisions(store, part.run.id) == decisions(store, whole.run.id)
    assert replay_run(store, part.run.id).matches


@pytest.mark.parametrize("after", [0, 1, 2, 7, 20, 33])
def test_a_device_run_repeats_nothing_committed_and_is_charged_for_the_rest(store, after):
    part = begin(store, Interrupted(after, drafts=2))
    committed = {found.number for found in store.evaluations(part.run.id)}
    assert len(committed) == after
    pending = [claim for claim in store.claims(part.run.id) if claim.number not in committed]
    again = Real(drafts=2)
    resumed = resume_run(store, again, part.run.id, clock=again.clock)
    asked = [number for number, _, _ in again.judged]
    assert not committed & set(asked)
    assert {claim.number for claim in pending} <= set(asked)
    looks = sum(claim.rung > Rung.DRAFT for claim in pending)
    made = sum(found.evaluation.rung > Rung.DRAFT for found in store.evaluations(part.run.id))
    assert resumed.spent.evaluations == made + looks
    lost_s = max((claim.reserved_s for claim in pending), default=0.0)
    assert resumed.spent.wall_s == pytest.approx(part.spent.wall_s + lost_s + again.clock())
    assert replay_run(store, part.run.id).matches


def test_a_resumed_run_adapts_to_a_smaller_machine(store):
    part = begin(store, Interrupted(12, drafts=3, looks=3))

    class Narrow(Real):
        most = 0

        def submit(self, job):
            super().submit(job)
            self.most = max(self.most, len(self._coming))

    again = Narrow(drafts=1, looks=1)
    assert resume_run(store, again, part.run.id, clock=again.clock).run.status == "improved"
    assert again.most <= 2
    assert replay_run(store, part.run.id).matches


def test_a_finished_run_cannot_be_resumed(store):
    done = begin(store, SimulatedExecutor())
    with pytest.raises(UsageError, match="finished"):
        resume_run(store, SimulatedExecutor(), done.run.id)


def test_a_run_that_a_living_process_works_on_is_left_alone(store, monkeypatch):
    part = begin(store, Interrupted(5))
    with store.engine.begin() as connection:
        # Process 1 lives as long as this machine.
        owner = f"{leases.socket.gethostname()}:1:{leases._started(1)}"
        connection.execute(text("UPDATE runs SET owner = :owner"), {"owner": owner})
    with pytest.raises(UsageError, match="being worked on"):
        resume_run(store, SimulatedExecutor(), part.run.id)


def test_a_past_that_comes_out_differently_is_not_continued(store):
    part = begin(store, Interrupted(20))
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE claims SET rung = 3 - rung WHERE number = 9"))
    before = decisions(store, part.run.id)
    executor = Real()
    with pytest.raises(StoreError, match="job 9"):
        resume_run(store, executor, part.run.id, clock=executor.clock)
    assert executor.judged == []
    assert decisions(store, part.run.id) == before
    report = replay_run(store, part.run.id)
    assert not report.matches
    assert "job 9" in report.first_difference


def test_what_an_opening_did_not_find_out_is_not_stored(store):
    """Else a run that is older than a field of the session could not be repeated."""
    found = begin(store, SimulatedExecutor(), evaluations=9)
    (opened,) = store.events(found.run.id, "opened")
    assert None not in opened.data["session"].values()


@pytest.mark.parametrize(
    ("table", "where", "before", "after"),
    [
        ("posts", "position = 1", "", None),
        ("runs", "1", '"seed":0', '"seed":1'),
        ("runs", "1", '"status":"improved"', '"status":"no_improvement"'),
        ("evaluations", "rung = 4", '"outcome":"passed"', '"outcome":"crashed"'),
        ("events", "kind = 'promoted'", "full", "screen"),
    ],
)
def test_an_audit_finds_what_was_altered(store, table, where, before, after):
    done = begin(store, SimulatedExecutor(), effort="thorough")
    assert replay_run(store, done.run.id).matches
    with store.engine.begin() as connection:
        if after is None:
            assert connection.exec_driver_sql(f"DELETE FROM {table} WHERE {where}").rowcount
        else:
            assert alter(connection, table, where, before, after)
    if after and ("crashed" in after or "status" in after):
        # A failure that carries a time contradicts itself, a status its column: neither is read.
        with pytest.raises(StoreError, match="damaged"):
            replay_run(store, done.run.id)
    else:
        assert not replay_run(store, done.run.id).matches


def test_an_ending_that_was_put_in_other_words_is_the_same_ending(store):
    done = begin(store, SimulatedExecutor())
    with store.engine.begin() as connection:
        assert alter(connection, "events", "kind = 'stopped'", done.reason, "it was the end")
    assert replay_run(store, done.run.id).matches


def alter(connection, table, where, before, after):
    """Change rows as somebody would who knows how to seal them."""
    beside = {
        "runs": ("id",),
        "evaluations": ("run", "number", "sequence", "wall_s", "device_s"),
        "events": ("run", "sequence", "kind"),
    }[table]
    changed = 0
    for row in connection.execute(text(f"SELECT rowid, * FROM {table} WHERE {where}")).mappings():
        place = [row[name] for name in beside]
        plain = unsealed(row["json"], *place).replace(before, after)
        values = {"json": seal(plain, *place), "row": row["rowid"]}
        words = f"UPDATE {table} SET json = :json WHERE rowid = :row"
        changed += connection.execute(text(words), values).rowcount
    return changed


def test_ctrl_c_leaves_plain_files_and_a_resumable_run(tmp_path):
    store = Store.open(str(tmp_path / "store.db"))
    part = begin(store, Interrupted(15))
    assert 'status" = "interrupted' in (part.folder / "run.toml").read_text()
    again = SimulatedExecutor()
    done = resume_run(store, again, "latest", clock=again.clock)
    assert (done.folder / "best.cpp").read_text() == settled(done.best)
    store.close()


class Elsewhere(SimulatedExecutor):
    """A machine on which another baseline is the strongest; compares with whatever it is asked."""

    simulated = False

    def __init__(self, strongest, missing=(), obeys=True, **change):
        super().__init__(**change)
        self.strongest, self.missing, self.obeys = strongest, missing, obeys
        self.asked = []

    def session(self, task):
        found = super().session(task)
        names = ("loop", "numpy", "eager")
        baselines = tuple(
            BaselineTime(name=name, missing="not installed")
            if name in self.missing
            else BaselineTime(name=name, time_us=BASELINE_US)
            for name in names
        )
        return found.model_copy(update={"strongest": self.strongest, "baselines": baselines})

    def judge(self, job):
        found = super().judge(job)
        self.asked.append((job.plan.rung, job.against))
        name = job.against if self.obeys and job.against else self.strongest
        named = tuple(one.model_copy(update={"baseline": name}) for one in found.comparisons)
        return found.model_copy(update={"comparisons": named})


class Stopped(Elsewhere):
    def __init__(self, *arguments, after=20, **change):
        super().__init__(*arguments, **change)
        self.left = after

    def wait(self, timeout=None):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().wait(timeout)


def test_a_run_goes_on_against_the_baseline_it_began_with(store):
    part = begin(store, Stopped("loop", drafts=2))
    again = Elsewhere("eager", drafts=2)
    done = resume_run(store, again, part.run.id, clock=again.clock)
    looks = {against for rung, against in again.asked if Rung.DRAFT < rung < Rung.CONFIRM}
    assert looks == {"loop"}
    assert {against for rung, against in again.asked if rung is Rung.CONFIRM} == {""}
    for stored in store.evaluations(part.run.id):
        if stored.evaluation.rung < Rung.CONFIRM:
            assert {one.baseline for one in stored.evaluation.comparisons} <= {"loop"}
    assert (done.rival, done.session.strongest) == ("loop", "eager")
    said = run_text(done)
    assert "looks with loop, the strongest baseline when it began (eager is now)" in said
    assert replay_run(store, part.run.id).matches


def test_nothing_is_said_where_the_strongest_stayed_the_same(store):
    part = begin(store, Stopped("numpy"))
    again = Elsewhere("numpy")
    assert "compared" not in run_text(resume_run(store, again, part.run.id, clock=again.clock))


def test_a_run_whose_baseline_is_gone_is_not_continued_with_another(store):
    part = begin(store, Stopped("numpy"))
    before = decisions(store, part.run.id)
    again = Elsewhere("loop", missing=("numpy",))
    with pytest.raises(PrerequisiteError, match="numpy, which cannot be had here") as problem:
        resume_run(store, again, part.run.id, clock=again.clock)
    assert "not installed" in problem.value.message
    assert "--start" in problem.value.hint
    assert decisions(store, part.run.id) == before
    assert store.run(part.run.id).status == "interrupted"
    assert store.owner(part.run.id)[0] == ""
    third = Elsewhere("eager")
    assert resume_run(store, third, part.run.id, clock=third.clock).run.status == "improved"


def test_numbers_against_another_baseline_are_not_taken(store):
    part = begin(store, Stopped("numpy"))
    again = Elsewhere("loop", obeys=False)
    with pytest.raises(JudgeError, match="compared with loop, not with numpy"):
        resume_run(store, again, part.run.id, clock=again.clock)
    assert store.run(part.run.id).status == "interrupted"


@pytest.mark.parametrize("moment", ["open", "put_task", "create_run", "commit", "close"])
def test_ctrl_c_at_any_moment_leaves_nobody_holding_the_run(tmp_path, monkeypatch, moment):
    store = Store.open(str(tmp_path / "store.db"))
    executor = SimulatedExecutor()
    target = executor if moment in ("open", "close") else Writer
    real, calls = getattr(target, moment), []

    def interrupted(*arguments, **options):
        calls.append(1)
        found = real(*arguments, **options)
        if len(calls) == (5 if moment == "commit" else 1):
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patch:
        patch.setattr(target, moment, interrupted)
        try:
            begin(store, executor)
        except KeyboardInterrupt:
            pass
        else:
            assert moment == "commit"
    for run in store.runs():
        assert store.owner(run.id) == ("", 0.0)
    assert executor._coming == []
    if moment not in ("open", "put_task"):
        again = SimulatedExecutor()
        left = store.run("latest")
        if left.status in ("running", "interrupted"):
            assert resume_run(store, again, left.id, clock=again.clock).run.status == "improved"
    store.close()


def test_ctrl_c_just_after_the_last_step_changes_nothing(store, monkeypatch):
    real = Writer.commit

    def commit(self, run, step, *, release=False):
        real(self, run, step, release=release)
        if release and run.status == "improved":
            raise KeyboardInterrupt

    monkeypatch.setattr(Writer, "commit", commit)
    assert begin(store, SimulatedExecutor()).run.status == "improved"
    assert store.run("latest").status == "improved"
