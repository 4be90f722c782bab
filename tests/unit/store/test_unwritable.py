"""A store that can be read and not written: by another user, in a closed folder, left in haste."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kernelwright.errors import StoreError
from kernelwright.search.loop import start_run
from kernelwright.store import unwritable
from kernelwright.store.store import Store
from kernelwright.store.writer import Writer
from kernelwright.testing.simulated import SimulatedExecutor, made_up_candidates, made_up_task
from tests.unit.search.conftest import spec_of

READ = """
import json, os, sys
from kernelwright.errors import StoreError
from kernelwright.store.store import Store

Store.open("sqlite://").close()  # all that is imported late, while it can be
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
store = Store.open(sys.argv[1], writable=False)
print(json.dumps({run.id: len(store.evaluations(run.id)) for run in store.runs()}))
store.close()
try:
    Store.open(sys.argv[1])
except StoreError as problem:
    print(json.dumps([problem.message, problem.hint]))
"""


@pytest.fixture
def place():
    """A folder that other users can reach, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="kernelwright-test-"))
    folder.chmod(0o755)
    yield folder
    for one in (folder, *folder.rglob("*")):
        one.chmod(0o755)
    shutil.rmtree(folder)


def filled(place):
    store = Store.open(str(place / "store.db"))
    executor = SimulatedExecutor()
    found = start_run(store, executor, made_up_task(), spec_of(), start=made_up_candidates(2),
                      clock=executor.clock)  # fmt: skip
    return store, {found.run.id: len(store.evaluations(found.run.id))}


def as_reader(file):
    """What somebody else, who may not write, reads of it; and what a writer is told."""
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", READ, str(file)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "TMPDIR": tempfile.gettempdir()},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    found, told = map(json.loads, done.stdout.splitlines())
    assert told[1], told
    return found


def listing(place):
    return {file.name: file.read_bytes() for file in place.iterdir() if file.is_file()}


@pytest.mark.parametrize("closed", ["file", "folder"])
def test_another_user_reads_and_leaves_nothing(place, closed):
    store, wanted = filled(place)
    store.close()
    before = listing(place)
    (place / "store.db").chmod(0o444)
    place.chmod(0o555 if closed == "folder" or os.geteuid() == 0 else 0o755)
    assert as_reader(place / "store.db") == wanted
    assert listing(place) == before


def test_what_a_killed_writer_left_beside_the_file_is_read_too(place):
    store, _ = filled(place)
    _, wanted = filled(place)
    copy = place / "copy"
    copy.mkdir()
    # As after a kill: what was committed last is in the log alone.
    for name in ("store.db", "store.db-wal"):
        shutil.copyfile(place / name, copy / name)
        (copy / name).chmod(0o444)
    assert (copy / "store.db-wal").stat().st_size
    wanted = {run.id: len(store.evaluations(run.id)) for run in store.runs()}
    assert len(wanted) == 2
    store.close()
    copy.chmod(0o555)
    before = listing(copy)
    assert as_reader(copy / "store.db") == wanted
    assert listing(copy) == before


def test_a_reader_follows_a_living_writer(place):
    store, wanted = filled(place)
    for file in place.iterdir():
        file.chmod(0o444 if file.is_file() else 0o755)
    assert as_reader(place / "store.db") == wanted
    store.close()


def test_the_ways_are_tried_until_one_works(place, monkeypatch):
    store, wanted = filled(place)
    store.close()
    real, tried = unwritable.ways, []

    def refuse():
        tried.append("refused")
        raise sqlite3.OperationalError("unable to open database file")

    def ways(file):
        yield refuse, None
        yield from real(file)

    monkeypatch.setattr(unwritable, "ways", ways)
    reader = Store.open(str(place / "store.db"), writable=False)
    assert tried
    assert {run.id: len(reader.evaluations(run.id)) for run in reader.runs()} == wanted
    reader.close()
    monkeypatch.setattr(unwritable, "ways", lambda file: iter([(refuse, None)] * 3))
    with pytest.raises(StoreError, match="unable to open") as problem:
        Store.open(str(place / "store.db"), writable=False)
    assert problem.value.hint


def test_a_private_copy_goes_when_it_is_closed(place):
    store, wanted = filled(place)
    *_, (connect, folder) = unwritable.ways(place / "store.db")
    assert sorted(file.name for file in folder.iterdir()) == ["store.db", "store.db-wal"]
    copy = Store(store.url, connect, writable=False, remove=folder)
    assert {run.id: len(copy.evaluations(run.id)) for run in copy.runs()} == wanted
    copy.close()
    assert not folder.exists()
    store.close()


def test_a_reader_cannot_write_by_mistake(place):
    store, _ = filled(place)
    store.close()
    (connect, _) = list(unwritable.ways(place / "store.db"))[1]
    reader = Store(store.url, connect, writable=False)
    run = reader.run("latest")
    with pytest.raises(StoreError, match="readonly"):
        Writer(reader).take(run.id)
    reader.close()
