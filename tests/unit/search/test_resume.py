"""Interrupting, resuming and auditing: the past is repeated in thought, never in deed."""

import pytest
from sqlalchemy import text

from kernelwright.candidates.settle import settled
from kernelwright.errors import StoreError, UsageError
from kernelwright.records.rung import Rung
from kernelwright.search.loop import resume_run, start_run
from kernelwright.search.replay import replay_run
from kernelwright.store import leases
from kernelwright.store.store import Store
from kernelwright.testing.simulated import SimulatedExecutor, made_up_candidates, made_up_task

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


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM posts WHERE position = 1",
        "UPDATE runs SET json = replace(json, '\"seed\":0', '\"seed\":1')",
        """UPDATE runs SET json = replace(json, '"status":"improved"',
        '"status":"no_improvement"')""",
        """UPDATE evaluations SET json = replace(json, '"outcome":"passed"',
        '"outcome":"crashed"') WHERE rung = 4""",
        "UPDATE events SET json = replace(json, 'full', 'screen') WHERE kind = 'promoted'",
    ],
)
def test_an_audit_finds_what_was_altered(store, change):
    done = begin(store, SimulatedExecutor(), effort="thorough")
    assert replay_run(store, done.run.id).matches
    with store.engine.begin() as connection:
        assert connection.exec_driver_sql(change).rowcount
    if "crashed" in change:
        # A failure that carries a time contradicts itself: it cannot even be read.
        with pytest.raises(StoreError, match="damaged"):
            replay_run(store, done.run.id)
    else:
        assert not replay_run(store, done.run.id).matches


def test_ctrl_c_leaves_plain_files_and_a_resumable_run(tmp_path):
    store = Store.open(str(tmp_path / "store.db"))
    part = begin(store, Interrupted(15))
    assert 'status" = "interrupted' in (part.folder / "run.toml").read_text()
    again = SimulatedExecutor()
    done = resume_run(store, again, "latest", clock=again.clock)
    assert (done.folder / "best.cpp").read_text() == settled(done.best)
    store.close()
