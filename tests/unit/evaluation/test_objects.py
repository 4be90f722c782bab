"""Whose code a process has mapped, from what the kernel lists of it."""

import pytest

from kernelwright.checks.finding import Rejected
from kernelwright.evaluation.census import Census
from kernelwright.evaluation.channel import Channel
from kernelwright.evaluation.library_worker import LibraryWorker
from kernelwright.evaluation.objects import executable, files, holder
from kernelwright.evaluation.worker import Worker
from kernelwright.records.outcome import Outcome
from kernelwright.sandbox import python

STDLIB = python.of_base("stdlib")
LIBRARY = "/var/judge/library-0/candidate.so"
LINES = {
    "python": "00400000-00500000 r-xp 00000000 08:01 11   /usr/bin/python3",
    "data": "00600000-00700000 rw-p 00000000 08:01 11   /usr/lib/libdata.so",
    "own": f"7f0000000000-7f0000010000 r-xp 00001000 00:2a 12 {LIBRARY}",
    "gomp": "7f1000000000-7f1000010000 r-xp 00000000 08:01 13 /usr/lib/libgomp.so.1.0.0",
    "blas": "7f2000000000-7f2000010000 r-xp 00000000 08:01 14 /usr/lib/libopenblas.so.0",
    "spaces": "7f3000000000-7f3000010000 r-xp 00000000 08:01 15 /home/a b/libmine.so",
    "dropped": "7f4000000000-7f4000010000 r-xp 00000000 00:2a 16 /var/judge/worker-1/other.so",
    "memory": "7f5000000000-7f5000010000 r-xp 00000000 00:01 17 /memfd:other (deleted)",
    "anonymous": "7f6000000000-7f6000010000 r-xp 00000000 00:00 0",
    "json": f"7f7000000000-7f7000010000 r-xp 00000000 08:01 18 {STDLIB}/lib-dynload/_json.so",
    "package": f"7f8000000000-7f8000010000 r-xp 00000000 08:01 19 {STDLIB}/site-packages/n/libg.so",
}


def listing(*names):
    return "\n".join(LINES[name] for name in names)


class Process:
    """Nothing runs."""

    pid = 1

    def poll(self):
        return None

    def kill(self):
        pass

    def tail(self, size=2000):
        return ""


class Maps(Census):
    """A census whose kernel lists what it is told."""

    def __init__(self, text):
        self.text = text

    def code(self):
        return self.text

    def left(self, before, label):
        return None

    def cpu_ns(self):
        return 0


@pytest.fixture
def load(monkeypatch):
    """Gives a worker that has loaded a library whose entry it says is there."""
    ours, theirs = Channel.pair()

    def loaded(*names, at=0x7F0000000010, forbid=False):
        worker = LibraryWorker(Process(), ours, library=LIBRARY, forbid=forbid)
        worker._census = Maps(listing("python"))

        def answer(self, message, timeout):
            self._census.text = listing(*names)
            return {"at": at}

        monkeypatch.setattr(Worker, "load", answer)
        worker.load({}, 1.0)
        return worker

    yield loaded
    ours.close()
    theirs.close()


def refused(load, *names, **options):
    with pytest.raises(Rejected) as rejected:
        load(*names, **options)
    assert rejected.value.finding.outcome is Outcome.KERNEL_DID_NOT_RUN
    return rejected.value.finding.reason


def test_only_code_counts_and_a_path_may_hold_spaces():
    found = executable(listing(*LINES))
    assert set(files(found)) == {
        "/usr/bin/python3", LIBRARY, "/usr/lib/libgomp.so.1.0.0", "/usr/lib/libopenblas.so.0",
        "/home/a b/libmine.so", "/var/judge/worker-1/other.so", "/memfd:other (deleted)",
        f"{STDLIB}/lib-dynload/_json.so", f"{STDLIB}/site-packages/n/libg.so",
    }  # fmt: skip
    assert holder(found, 0x7F0000000000).path == LIBRARY
    assert holder(found, 0x7F0000010000) is None
    assert holder(found, 0x7F6000000001).path == ""


def test_the_language_and_the_interpreter_are_no_libraries_and_others_are_named(load):
    assert load("python", "own", "gomp", "json").labels == {}
    assert load("python", "own", "blas", "spaces").labels == {
        "libraries": ["libmine", "libopenblas"]
    }


@pytest.mark.parametrize("name", ["dropped", "memory"])
def test_code_that_the_process_can_have_made_is_refused(load, name):
    assert LINES[name].split(maxsplit=5)[5] in refused(load, "python", "own", name)


def test_a_library_is_refused_where_the_task_forbids_it(load):
    assert "libopenblas" in refused(load, "python", "own", "blas", forbid=True)
    assert "libg" in refused(load, "python", "own", "package", forbid=True)
    load("python", "own", "gomp", "json", forbid=True)


@pytest.mark.parametrize("at", [0x7F2000000010, 0x7F6000000010, 0x10, None, "x"])
def test_an_entry_that_lies_elsewhere_is_refused(load, at):
    assert "does not lie in its library" in refused(
        load, "python", "own", "blas", "anonymous", at=at
    )


def test_what_is_loaded_by_a_call_is_seen_after_it(load):
    worker = load("python", "own")
    worker._census.text = listing("python", "own", "blas")
    assert worker.left_behind() is None
    assert worker.labels["libraries"] == ["libopenblas"]
    worker._census.text = listing("python", "own", "memory")
    assert worker.left_behind().outcome is Outcome.KERNEL_DID_NOT_RUN


def test_where_the_kernel_does_not_tell_the_process_is_asked(load):
    worker = load("python", "own")
    worker._census.text = ""
    asked = []
    worker._ask = lambda message, timeout: (
        asked.append(message) or {"code": listing("python", "own", "blas")}
    )
    assert worker.left_behind() is None
    assert asked == [{"do": "code"}]
    assert worker.labels["libraries"] == ["libopenblas"]
    worker._ask = lambda message, timeout: {"code": "zz-zz r-xp nothing"}
    with pytest.raises(Rejected) as rejected:
        worker.left_behind()
    assert rejected.value.finding.outcome is Outcome.TAMPERING
