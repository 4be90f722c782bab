"""What a handle makes of a process that dies, hangs or lies."""

from __future__ import annotations

import array
import itertools
import signal
import threading
import time
from types import SimpleNamespace

import pytest

from kernelwright.checks.finding import Rejected
from kernelwright.evaluation import ending
from kernelwright.evaluation import worker as workers
from kernelwright.evaluation.channel import Channel
from kernelwright.evaluation.worker import Worker
from kernelwright.records.outcome import Outcome


class Process:
    """A process that ended in a given way."""

    pid = 1

    def __init__(self, code=None):
        self.code, self.killed = code, False

    def poll(self):
        return self.code

    def kill(self):
        self.killed = True

    def tail(self, size=2000):
        return "its last words"


@pytest.fixture
def ends():
    ours, theirs = Channel.pair()
    yield ours, theirs
    ours.close()
    theirs.close()


def rejection(worker, timeout=5.0):
    with pytest.raises(Rejected) as rejected:
        worker.run([0], timeout)
    return rejected.value.finding


def count_kills(monkeypatch, count):
    for module in (workers, ending):
        monkeypatch.setattr(module, "oom_kills", count)


@pytest.mark.parametrize("number", [9, 15, 11, 6, 7, 64])
def test_a_signal_is_named_and_memory_is_not_guessed_at(ends, monkeypatch, number):
    count_kills(monkeypatch, lambda: 3)
    ours, theirs = ends
    worker = Worker(Process(-number), ours)
    theirs.close()
    found = rejection(worker)
    assert found.outcome is Outcome.CRASHED
    assert found.reason == f"the candidate crashed with {ending.signal_name(number)}"
    assert found.evidence["exit_code"] == -number


def test_memory_is_named_when_the_system_counted_a_kill(ends, monkeypatch):
    counted = iter([3, 4])
    count_kills(monkeypatch, lambda: next(counted))
    ours, theirs = ends
    worker = Worker(Process(-signal.SIGKILL), ours)
    theirs.close()
    found = rejection(worker)
    assert found.outcome is Outcome.OUT_OF_MEMORY
    assert found.evidence["oom_kills"] == 1


def test_a_kill_elsewhere_does_not_make_a_segmentation_fault_a_lack_of_memory(ends, monkeypatch):
    counted = iter([3, 4])
    count_kills(monkeypatch, lambda: next(counted))
    ours, theirs = ends
    worker = Worker(Process(-signal.SIGSEGV), ours)
    theirs.close()
    assert rejection(worker).outcome is Outcome.CRASHED


def test_the_word_of_the_runtime_about_its_limit_counts(ends):
    ours, theirs = ends
    process = Process(-signal.SIGABRT)
    process.tail = lambda size=2000: (
        "terminate called after throwing an instance of 'std::bad_alloc'"
    )
    worker = Worker(process, ours)
    theirs.close()
    assert rejection(worker).outcome is Outcome.OUT_OF_MEMORY


def test_processor_time_is_a_timeout(ends):
    ours, theirs = ends
    worker = Worker(Process(-signal.SIGXCPU), ours)
    theirs.close()
    assert rejection(worker).outcome is Outcome.TIMEOUT


def test_silence_is_a_timeout_of_the_call_or_of_all_calls(ends):
    ours, _ = ends
    process = Process()
    worker = Worker(process, ours)
    found = rejection(worker, 0.05)
    assert found.outcome is Outcome.TIMEOUT
    assert "within 0.05 s" in found.reason
    assert process.killed
    worker.until = time.monotonic() + 0.05
    found = rejection(worker, 60.0)
    assert found.outcome is Outcome.TIMEOUT
    assert "all its calls together" in found.reason


@pytest.mark.parametrize(
    "forged", [{"ns": [5], "codes": [0]}, {"ns": [5], "codes": [0], "number": "x"}]
)
def test_a_report_without_the_number_of_its_order_is_forged(ends, forged):
    ours, theirs = ends
    process = Process()
    other = Channel(theirs)
    thread = threading.Thread(target=lambda: (other.receive(5), other.send(forged)))
    thread.start()
    found = rejection(Worker(process, ours))
    thread.join()
    assert found.outcome is Outcome.TAMPERING
    assert process.killed


class Line:
    """A channel to a worker that does what it is told in a nanosecond a call."""

    def ask(self, message, timeout, fds=()):
        self.token = bytes.fromhex(message.get("token", ""))
        self.calls = len(message.get("slots", ()))
        return {}

    def raw(self, data):
        pass

    def report(self, size, timeout):
        ns, codes = array.array("q", [1] * self.calls), array.array("i", [0] * self.calls)
        return self.token + ns.tobytes() + codes.tobytes()


def test_processor_time_of_a_block_is_read_again_when_the_next_is_asked_for():
    worker = Worker(Process(), Line())
    worker._census = SimpleNamespace(cpu_ns=itertools.count(1000, 1000).__next__)
    # Read when armed, at the word, at the report; then when the next is asked for.
    assert [worker.run([0, 1], 1.0).earlier_ns for _ in range(3)] == [0, 2000, 2000]
    worker._ask({"do": "bind"}, 1.0)
    assert worker.run([0], 1.0).earlier_ns == 0


@pytest.mark.parametrize(("answering_ns", "excused_ns"), [(300, 300), (900_000, 5000)])
def test_an_inspection_is_no_late_work_and_hides_none(monkeypatch, answering_ns, excused_ns):
    worker, now = Worker(Process(), Line()), itertools.count(0, 5000)
    times = [10, 20, 30]  # armed, at the word, at the report
    times += [1000, 1000 + answering_ns, 1_000_000]  # around the inspection, and at the next block
    worker._census = SimpleNamespace(
        cpu_ns=iter([*times, 1_000_001, 1_000_002, 1_000_003]).__next__
    )
    monkeypatch.setattr(workers.time, "perf_counter_ns", now.__next__)
    worker.run([0], 1.0)
    worker._ask_aside({"do": "inspect"}, 1.0)
    assert worker.run([0], 1.0).earlier_ns == 1_000_000 - 20 - excused_ns
