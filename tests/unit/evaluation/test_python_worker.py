"""What is asked of a process that runs Python, and when."""

from __future__ import annotations

import pytest

from kernelwright.checks.finding import Rejected
from kernelwright.evaluation.python_worker import PythonWorker
from kernelwright.evaluation.worker import Worker
from kernelwright.records.evaluation import Sandbox
from kernelwright.records.outcome import Outcome


@pytest.fixture
def made(monkeypatch):
    """A handle without a process, and the words that were exchanged."""
    worker, said = PythonWorker(None, None, forbid=True), []

    def ask(self, message, timeout, fds=()):
        said.append(message["do"])
        return {"computing": ["aten.mm"], "drew": True} if message["do"] == "inspect" else {}

    monkeypatch.setattr(Worker, "go", lambda self, timeout: said.append("go"))
    monkeypatch.setattr(Worker, "left_behind", lambda self: None)
    monkeypatch.setattr(PythonWorker, "_ask", ask)
    monkeypatch.setattr(PythonWorker, "_ask_aside", ask)
    return worker, said


def test_nothing_is_asked_between_the_report_and_the_look_at_the_outputs(made):
    worker, said = made
    worker.go(1.0)
    assert said == ["go"]
    assert worker.left_behind() is None
    assert said == ["go", "inspect"]
    assert worker.labels["draws_random_numbers"]


def test_operators_of_a_watched_block_are_named_once(made):
    worker, _ = made
    worker.watch()
    worker.go(1.0)
    found = worker.left_behind()
    assert found is not None
    assert found.outcome is Outcome.KERNEL_DID_NOT_RUN
    worker.go(1.0)
    assert worker.left_behind() is None


@pytest.mark.parametrize("filters", [(1, 2), (0, 0), (1, 1)], ids=["one more", "unknown", "none"])
def test_a_lock_is_seen_from_outside(made, filters):
    worker, said = made
    told = iter(filters)
    worker._census = type("Census", (), {"filters": lambda self: next(told)})()
    worker.lock(1.0)
    assert not said
    worker.sandbox = Sandbox(active=("system_calls",))
    if filters == (1, 1):
        with pytest.raises(Rejected) as rejected:
            worker.lock(1.0)
        assert rejected.value.finding.outcome is Outcome.TAMPERING
        return
    worker.lock(1.0)
    assert said == ["lock"]
    assert worker.locked
