"""The store: what goes in comes out, what is wrong is explained, what was committed stays."""

import re
import socket
import sqlite3
import subprocess
import sys

import pytest
from sqlalchemy import event, text

from kernelwright.errors import PrerequisiteError, StoreError, UsageError
from kernelwright.records.evaluation import Build, Evaluation
from kernelwright.records.outcome import Outcome
from kernelwright.records.post import Post
from kernelwright.records.run import Run, RunSpec, Spent
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import VERSION, Control, Sensed, Sensitivity
from kernelwright.records.task import Tolerance
from kernelwright.store import leases, schema
from kernelwright.store.step import Claim, Event, Step, StoredEvaluation, content_hash
from kernelwright.store.store import Store
from kernelwright.store.writer import Writer
from kernelwright.testing.simulated import made_up_candidates, made_up_task


@pytest.fixture
def store(tmp_path):
    opened = Store.open(str(tmp_path / "deep" / "store.db"))
    yield opened
    opened.close()


def new_run(name="run-a", created="2026-01-01T00:00:00+00:00", **change):
    spec = RunSpec(task=content_hash(made_up_task()), device="cpu", threads=1)
    return Run(id=name, spec=spec, created=created, **change)


def begun(store, name="run-a", **change):
    writer, run = Writer(store), new_run(name, **change)
    writer.put_task(made_up_task())
    writer.create_run(run)
    return writer, run


def look(candidate, rung=Rung.DRAFT, **change):
    build = Build(seconds=1.0, binary="b" * 64)
    return Evaluation(candidate=candidate.id, rung=rung, outcome=Outcome.PASSED, build=build,
                      **change)  # fmt: skip


def step_of(candidates, first=1):
    numbers = range(first, first + len(candidates))
    return Step(
        candidates=list(candidates),
        claims=[
            Claim(n, one.id, Rung.DRAFT, 2.5) for n, one in zip(numbers, candidates, strict=True)
        ],
        evaluations=[
            StoredEvaluation(n, n, look(one), 1.5 * n, 0.5 * n)
            for n, one in zip(numbers, candidates, strict=True)
        ],
        events=[Event("promoted", {"candidate": one.id}) for one in candidates],
    )


def test_what_goes_in_comes_out(store):
    people = made_up_candidates(3)
    writer, run = begun(store)
    step = step_of(people)
    step.posts = [Post(kind="win", axis="strategy", value="x", effect=1.5, evaluation=2)]
    later = run.model_copy(update={"spent": Spent(wall_s=4.5)})
    writer.commit(later, step)
    assert store.task(run.spec.task) == made_up_task()
    assert store.run("run-a") == later
    assert list(store.candidates("run-a")) == people
    assert store.candidate("run-a", people[1].id) == people[1]
    assert list(store.claims("run-a")) == step.claims
    assert list(store.evaluations("run-a")) == step.evaluations
    assert list(store.evaluations("run-a", people[2].id)) == step.evaluations[2:]
    assert list(store.evaluations("run-a", rung=Rung.FULL)) == []
    assert list(store.posts("run-a")) == step.posts
    assert list(store.events("run-a")) == step.events
    assert list(store.events("run-a", "stopped")) == []


def test_a_source_is_kept_once(store):
    one = made_up_candidates(1)[0]
    many = [one.model_copy(update={"id": f"{at:016x}"}) for at in range(50)]
    writer, run = begun(store)
    writer.commit(run, Step(candidates=many))
    second, other = begun(store, "run-b")
    second.commit(other, Step(candidates=many))
    with store.reading() as connection:
        assert connection.scalar(text("SELECT count(*) FROM sources")) == 1
    assert {found.source for found in store.candidates("run-b")} == {one.source}


def test_a_step_is_written_whole_or_not_at_all(store):
    people = made_up_candidates(2)
    writer, run = begun(store)
    writer.commit(run, step_of(people[:1]))
    broken = step_of(people[1:], first=2)
    broken.posts = [Post(kind="win", axis="a", value="b", evaluation=99)]
    with pytest.raises(StoreError, match="evaluation 99"):
        writer.commit(run, broken)
    assert len(store.candidates("run-a")) == len(store.evaluations("run-a")) == 1
    broken.posts = []
    writer.commit(run, broken)
    assert len(store.events("run-a")) == 2


def test_a_post_without_an_evaluation_is_refused(store):
    writer, run = begun(store)
    with pytest.raises(StoreError):
        writer.commit(run, Step(posts=[Post(kind="trap", axis="a", value="b", evaluation=1)]))
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        Post(kind="trap", axis="a", value="b", evaluation=0)


def test_a_number_is_evaluated_once(store):
    writer, run = begun(store)
    writer.commit(run, step_of(made_up_candidates(1)))
    again = step_of(made_up_candidates(2)[1:])
    with pytest.raises(StoreError, match="UNIQUE"):
        writer.commit(run, again)
    assert len(store.evaluations("run-a")) == 1


def test_runs_are_found_by_beginning_or_as_latest(store):
    begun(store, "run-a", created="2026-01-01T00:00:00+00:00")
    begun(store, "run-b", created="2026-01-03T00:00:00+00:00")
    begun(store, "walk", created="2026-01-02T00:00:00+00:00")
    assert [run.id for run in store.runs()] == ["run-b", "walk", "run-a"]
    assert store.run("latest").id == "run-b"
    assert store.run("wa").id == "walk"
    for wrong in ("run", "x", "", "%", "run_a"):
        with pytest.raises(UsageError):
            store.run(wrong)
    with pytest.raises(UsageError, match="not in this store"):
        store.task("0" * 64)
    with pytest.raises(UsageError, match="not a candidate"):
        store.candidate("walk", "nobody")


def test_a_file_that_is_no_database_is_left_alone(tmp_path):
    file = tmp_path / "notes.db"
    file.write_text("These are my notes, and they are longer than a header. " * 10)
    before = file.read_bytes()
    with pytest.raises(StoreError, match="not a database") as problem:
        Store.open(str(file))
    assert "--store" in problem.value.hint
    assert file.read_bytes() == before


def test_a_database_of_something_else_is_left_alone(tmp_path):
    file = tmp_path / "other.db"
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE meta (name TEXT)")
    other.close()
    with pytest.raises(StoreError, match="not kernelwright's"):
        Store.open(str(file))
    with sqlite3.connect(file) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("meta",)]
    other.close()


def test_a_newer_store_is_refused_and_unharmed(store):
    writer, run = begun(store)
    writer.commit(run, step_of(made_up_candidates(1)))
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE meta SET value = '999'"))
    with pytest.raises(StoreError, match="schema 999") as problem:
        Store.open(str(store.url))
    assert "upgrade" in problem.value.hint
    assert len(store.evaluations("run-a")) == 1


def test_a_read_only_store_can_be_read_but_not_written(store, tmp_path):
    writer, run = begun(store)
    writer.commit(run, step_of(made_up_candidates(1)))
    file = tmp_path / "deep" / "store.db"
    place = f"sqlite:///file:{file}?mode=ro&uri=true"
    with pytest.raises(StoreError, match="readonly") as problem:
        Store.open(place)
    assert "may not be written" in problem.value.hint
    reader = Store.open(place, writable=False)
    assert len(reader.evaluations("run-a")) == 1
    with pytest.raises(StoreError, match="readonly") as problem:
        Writer(reader).commit(run, step_of(made_up_candidates(2)[1:], first=2))
    assert "may not be written" in problem.value.hint
    reader.close()
    assert len(store.evaluations("run-a")) == 1


def test_a_store_of_another_version_is_refused_and_left_as_it_is(store):
    begun(store)
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE meta SET value = '1'"))
    for writable in (False, True):
        with pytest.raises(StoreError, match="schema 1, this version of kernelwright reads 2"):
            Store.open(str(store.url), writable=writable)
    with store.reading() as connection:
        assert connection.scalar(text("SELECT value FROM meta")) == "1"


def test_a_row_without_its_seal_is_not_believed(store):
    writer, run = begun(store)
    writer.commit(run, step_of(made_up_candidates(2)))
    with store.engine.begin() as connection:
        row = connection.execute(text("SELECT rowid, json FROM evaluations LIMIT 1")).one()
        plain = re.sub(r',?"seal":"[0-9a-f]{16}"}$', "}", row.json)
        assert plain != row.json
        change = text("UPDATE evaluations SET json = :json WHERE rowid = :row")
        connection.execute(change, {"json": plain, "row": row.rowid})
    with pytest.raises(StoreError, match="no seal"):
        store.evaluations("run-a")


def test_reading_creates_nothing(tmp_path):
    reader = Store.open(str(tmp_path / "deep" / "none.db"), writable=False)
    assert reader.runs() == []
    with pytest.raises(UsageError, match="no runs yet"):
        reader.run("latest")
    reader.close()
    (tmp_path / "empty.db").touch()
    with pytest.raises(StoreError, match=r"empty\.db is an empty file"):
        Store.open(str(tmp_path / "empty.db"), writable=False)
    assert [file.name for file in tmp_path.iterdir()] == ["empty.db"]
    assert not (tmp_path / "empty.db").stat().st_size


def test_a_place_that_cannot_hold_a_store_is_explained(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError) as problem:
        Store.open(str(tmp_path / "file" / "store.db"))
    assert problem.value.hint
    with pytest.raises(StoreError):
        Store.open(str(tmp_path))
    with pytest.raises(StoreError, match="not the URL"):
        Store.open("://")


def test_a_full_disk_loses_nothing_committed(store):
    writer, run = begun(store)
    writer.commit(run, step_of(made_up_candidates(1)))

    @event.listens_for(store.engine, "checkout")
    def shrink(connection, record, proxy):
        connection.execute("PRAGMA max_page_count=1")  # as small as what is already there

    big = made_up_candidates(2)[1]
    big = big.model_copy(update={"source": big.source + "//" + "x" * 1_000_000})
    with pytest.raises(StoreError, match="full") as problem:
        writer.commit(run, step_of([big], first=2))
    assert "free some space" in problem.value.hint
    event.remove(store.engine, "checkout", shrink)
    with store.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1000000")
    assert len(store.evaluations("run-a")) == 1
    writer.commit(run, step_of([big], first=2))
    assert len(store.evaluations("run-a")) == 2


def test_a_missing_driver_is_a_prerequisite(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(PrerequisiteError) as problem:
        Store.open("postgresql://user:secret@nowhere/db")
    assert "kernelwright[postgres]" in problem.value.hint


def test_the_schema_is_not_written_for_sqlite_alone():
    """Every table and index compiles for PostgreSQL."""
    from sqlalchemy.dialects import postgresql
    from sqlalchemy.schema import CreateTable

    dialect = postgresql.dialect()
    for table in schema.metadata.sorted_tables:
        assert "CREATE TABLE" in str(CreateTable(table).compile(dialect=dialect))


def test_a_reader_sees_whole_steps_while_another_process_writes(store):
    writer, run = begun(store)
    people = made_up_candidates(200)
    code = (
        "import sys\n"
        "from kernelwright.store.store import Store\n"
        "store = Store.open(sys.argv[1])\n"
        "seen = set()\n"
        "while 200 not in seen:\n"
        "    with store.reading() as c:\n"
        "        claims = c.exec_driver_sql('SELECT count(*) FROM claims').scalar()\n"
        "        looks = c.exec_driver_sql('SELECT count(*) FROM evaluations').scalar()\n"
        "        assert claims == looks, (claims, looks)\n"
        "    if not seen: print('ready', flush=True)\n"
        "    seen.add(looks)\n"
        "print(len(seen))\n"
    )
    reader = subprocess.Popen(
        [sys.executable, "-c", code, str(store.url.database)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert reader.stdout.readline() == "ready\n", reader.stderr.read()
    for at, one in enumerate(people, start=1):
        writer.commit(run, step_of([one], first=at))
    out, err = reader.communicate(timeout=60)
    assert reader.returncode == 0, err
    assert int(out) > 2


def test_two_processes_write_to_one_store(store):
    code = (
        "import sys\n"
        "from kernelwright.records.run import Run, RunSpec\n"
        "from kernelwright.store.step import Step\n"
        "from kernelwright.store.store import Store\n"
        "from kernelwright.store.writer import Writer\n"
        "from kernelwright.testing.simulated import made_up_candidates, made_up_task\n"
        "store = Store.open(sys.argv[1]); writer = Writer(store)\n"
        "task = writer.put_task(made_up_task())\n"
        "run = Run(id=sys.argv[2], spec=RunSpec(task=task, device='cpu', threads=1), created='x')\n"
        "writer.create_run(run)\n"
        "for one in made_up_candidates(60): writer.commit(run, Step(candidates=[one]))\n"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", code, str(store.url.database), name],
                         stderr=subprocess.PIPE, text=True)
        for name in ("left", "right")
    ]  # fmt: skip
    for one in both:
        _, err = one.communicate(timeout=120)
        assert one.returncode == 0, err
    assert len(store.candidates("left")) == len(store.candidates("right")) == 60


def test_a_dead_owner_is_recognised_and_a_living_one_respected(store):
    writer, run = begun(store)
    owner, until = store.owner("run-a")
    assert owner == leases.me()
    assert not leases.alive(owner, until)
    host, pid, started = owner.rsplit(":", 2)
    assert leases.alive(f"{host}:1:{leases._started(1)}", 0.0)
    assert not leases.alive(f"{host}:{pid}:{int(started) - 1}", until)
    assert not leases.alive(f"{host}:99999999:1", until)
    assert leases.alive(f"elsewhere:{pid}:{started}", until)
    assert not leases.alive(f"elsewhere:{pid}:{started}", 0.0)
    writer.commit(run, Step(), release=True)
    assert store.owner("run-a")[0] == ""


def test_the_present_status_is_the_one_of_now_not_the_one_written_last(store):
    writer, run = begun(store)

    def seen():
        (listed,) = store.runs(present=True)
        assert listed == store.run("latest", present=True)
        return store.run("latest").status, listed.status

    assert seen() == ("running", "running")
    writer.commit(run.model_copy(update={"status": "interrupted"}), Step(), release=True)
    assert seen() == ("interrupted", "interrupted")
    again = Writer(store)
    again.take(run.id)
    assert seen() == ("interrupted", "running")
    again.release(run.id)
    assert seen() == ("interrupted", "interrupted")
    assert leases.present("running", "", 0.0) == "interrupted"
    assert leases.present("running", f"{socket.gethostname()}:99999999:1", 0.0) == "interrupted"
    assert leases.present("improved", f"{socket.gethostname()}:99999999:1", 0.0) == "improved"


def test_who_does_not_have_a_run_cannot_release_it(store, monkeypatch):
    _, run = begun(store)
    owner = store.owner(run.id)
    monkeypatch.setattr(leases, "me", lambda: "elsewhere:1:1")
    Writer(store).release(run.id)
    assert store.owner(run.id) == owner


def test_a_killed_process_is_dead_before_it_is_buried():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    host = leases.me().rsplit(":", 2)[0]
    owner = f"{host}:{child.pid}:{leases._started(child.pid)}"
    assert leases.alive(owner, 0.0)
    child.kill()
    for _ in range(500):
        if not leases.alive(owner, 0.0):
            break
        leases.time.sleep(0.01)
    assert not leases.alive(owner, 0.0)
    child.communicate()


def test_a_run_that_was_taken_over_is_not_written_by_its_former_owner(store, monkeypatch):
    writer, run = begun(store)
    monkeypatch.setattr(leases, "me", lambda: "elsewhere:1:1")
    monkeypatch.setattr(leases, "alive", lambda owner, until: False)
    Writer(store).take(run.id)
    with pytest.raises(StoreError, match="taken over"):
        writer.commit(run.model_copy(update={"status": "budget"}), Step())
    assert store.run(run.id).status == "running"
    assert store.owner(run.id)[0] == "elsewhere:1:1"


def seen(**changes):
    control = Control(name="mean", of="y", verdict="accepted", tolerances=0.5)
    work = Sensed(workload="w", controls=(control,), seconds=0.1)
    return Sensitivity(workloads=(work,), tolerance=Tolerance(), **changes)


def test_what_was_seen_of_a_task_is_kept_by_its_content_and_the_controls(store):
    writer = Writer(store)
    assert store.sensitivity("a" * 64) is None
    writer.put_sensitivity("a" * 64, seen())
    assert store.sensitivity("a" * 64) == seen()
    assert store.sensitivity("b" * 64) is None
    writer.put_sensitivity("a" * 64, seen(reason="it cannot be scored"))
    assert store.sensitivity("a" * 64).refused
    writer.put_sensitivity("b" * 64, seen(version=VERSION + 1))
    assert store.sensitivity("b" * 64) is None


def test_a_store_that_is_older_than_the_controls_learns_to_keep_them(store):
    with store.engine.begin() as connection:
        connection.execute(text("drop table sensitivities"))
    assert store.sensitivity("a" * 64) is None
    Writer(store).put_sensitivity("a" * 64, seen())
    assert store.sensitivity("a" * 64) == seen()
