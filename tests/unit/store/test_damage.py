"""A damaged row: which one it is, what can be done, and that the other runs stay readable."""

import pytest
from sqlalchemy import text

from kernelwright.errors import StoreError
from kernelwright.records.run import Run
from kernelwright.search.loop import resume_run, start_run
from kernelwright.search.replay import replay_run
from kernelwright.search.summary import summarise
from kernelwright.store import leases
from kernelwright.store.frames import rows
from kernelwright.store.sealed import seal, unsealed
from kernelwright.store.store import Store
from kernelwright.testing.simulated import SimulatedExecutor, made_up_candidates, made_up_task
from tests.unit.search.conftest import spec_of


@pytest.fixture
def store(tmp_path):
    opened = Store.open(str(tmp_path / "store.db"))
    yield opened
    opened.close()


@pytest.fixture
def two(store):
    """Ids of two runs, older first; the first is going to be damaged."""
    return [_run(store), _run(store)]


def _run(store):
    executor = SimulatedExecutor()
    return start_run(store, executor, made_up_task(), spec_of(), start=made_up_candidates(2),
                     clock=executor.clock).run.id  # fmt: skip


def change(store, words, **values):
    with store.engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
        found = connection.execute(text(words), values)
        assert found.rowcount >= 1


def read(store, run_id):
    """Everything that is ever read of a run."""
    summarise(store, run_id)
    rows(store, run_id)
    for each in (store.candidates, store.claims, store.posts, store.events):
        each(run_id)


BYTES = {
    "cut off": "substr(json, 1, length(json) - 40)",
    "empty": "''",
    "nothing": "x''",
    "other bytes": "CAST(x'fffe00c3' AS TEXT)",
    "another kind": "'[1, 2]'",
    "a number": "'7'",
    "deep": "replace(hex(zeroblob(50000)), '0', '[')",
    "unknown fields": "'{\"a\": 1}'",
    "one letter": "substr(json, 1, 12) || '~' || substr(json, 14)",
    "its seal": "substr(json, 1, length(json) - 3) || '~\"}'",
    "of another row": "(SELECT json FROM {table} AS o WHERE o.rowid != {table}.rowid LIMIT 1)",
}
TABLES = {
    "evaluations": "evaluation 3 of run {run} is damaged",
    "candidates": "candidate {candidate} of run {run} is damaged",
    "events": "event 2 of run {run} is damaged",
    "posts": "post 1 of run {run} is damaged",
}
FIRST = {
    "evaluations": "number = 3",
    "candidates": "position = 1",
    "events": "sequence = 2",
    "posts": "position = 1",
}


@pytest.mark.parametrize("damage", BYTES)
@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_row_is_named_and_the_other_run_is_sound(store, two, table, damage):
    if (table, damage) == ("events", "unknown fields"):
        pytest.skip("an event may hold anything; the audit finds this")
    bad, good = two
    candidate = store.candidates(bad)[0].id
    value = BYTES[damage].replace("{table}", table)
    change(store, f"UPDATE {table} SET json = {value} WHERE run = :run AND {FIRST[table]}", run=bad)
    with pytest.raises(StoreError) as problem:
        read(store, bad)
    assert problem.value.message.startswith(TABLES[table].format(run=bad, candidate=candidate))
    assert "bring the store back" in problem.value.hint
    assert store.run("latest").id == good
    read(store, good)
    assert replay_run(store, good).matches
    assert [run.id for run in store.runs()] == [good, bad]


@pytest.mark.parametrize("damage", BYTES)
def test_a_damaged_run_is_named_among_the_others(store, two, damage):
    bad, good = two
    value = BYTES[damage].replace("{table}", "runs")
    change(store, f"UPDATE runs SET json = {value} WHERE id = :run", run=bad)
    assert [run.id for run in store.runs()] == [good]
    found = store.all_runs()
    assert list(found) == [good, bad]
    assert isinstance(found[good], Run)
    assert isinstance(found[bad], StoreError)
    with pytest.raises(StoreError, match=f"run {bad} is damaged"):
        store.run(bad)
    read(store, good)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("UPDATE evaluations SET outcome = 'passed' || outcome WHERE number = 3", "evaluation 3"),
        ("UPDATE evaluations SET wall_s = wall_s + 1 WHERE number = 3", "evaluation 3"),
        ("UPDATE evaluations SET device_s = 'soon' WHERE number = 3", "evaluation 3"),
        ("UPDATE evaluations SET rung = 9 WHERE number = 3", "evaluation 3"),
        ("DELETE FROM evaluations WHERE number = 3", "the evaluation that ended as number"),
        ("UPDATE claims SET rung = 77 WHERE number = 3", "claim 3"),
        ("UPDATE claims SET reserved_s = 'long' WHERE number = 3", "claim 3"),
        ("UPDATE sources SET text = text || ' '", "candidate"),
        ("UPDATE events SET kind = 'opened' WHERE sequence = 2", "event 2"),
    ],
)
def test_columns_and_rows_count_too(store, two, words, message):
    change(store, words)
    with pytest.raises(StoreError, match=message) as problem:
        read(store, two[0])
    assert two[0] in problem.value.message
    assert problem.value.hint


def test_a_task_that_is_damaged_is_named(store, two):
    change(store, "UPDATE tasks SET json = replace(json, 'made-up', 'made-dn')")
    with pytest.raises(StoreError, match=r"task .* is damaged"):
        summarise(store, two[0])


def test_a_damaged_run_is_neither_resumed_nor_changed(store):
    class Interrupted(SimulatedExecutor):
        left = 9

        def wait(self, timeout=None):
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
            return super().wait(timeout)

    executor = Interrupted()
    run = start_run(store, executor, made_up_task(), spec_of(), start=made_up_candidates(2),
                    clock=executor.clock).run  # fmt: skip
    change(store, "UPDATE evaluations SET json = '{' WHERE number = 3")
    again = SimulatedExecutor()
    again.simulated = False
    with pytest.raises(StoreError, match="evaluation 3"):
        resume_run(store, again, run.id, clock=again.clock)
    assert again.judged == []
    assert store.owner(run.id) == ("", 0.0)
    assert store.run(run.id).status == "interrupted"


@pytest.mark.parametrize("owner", ["nobody", "a:b", "{host}:x:1", "{host}:1:", "{host}:-1:5", ":"])
def test_an_owner_that_cannot_be_read_holds_nothing(owner):
    assert not leases.alive(owner.format(host=leases.socket.gethostname()), 1e12)


@pytest.mark.parametrize("plain", ["{}", '{"a": 1}', '{"a":{"b":[]}}'])
def test_a_seal_goes_with_its_row(plain):
    sealed = seal(plain, "run", 3, 0.5)
    assert unsealed(sealed, "run", 3, 0.5) == plain
    assert unsealed(sealed, "run", 3.0, 0.5) == plain
    with pytest.raises(ValueError, match="no seal"):
        unsealed(plain, "anything")
    for other in (("run", 4, 0.5), ("runs", 3, 0.5), ("run", 3)):
        with pytest.raises(ValueError, match="not what was written"):
            unsealed(sealed, *other)
