"""A task on which a wrong answer passes: refused by every verb, and remembered."""

import json

import pytest

from kernelwright.checks.sensitivity import InsensitiveTask
from kernelwright.cli.main import main
from kernelwright.records.sensitivity import Control, Sensed, Sensitivity
from kernelwright.records.task import Tolerance
from tests import samples
from tests.fakes import FakeExecutor

PASSING = Control(name="mean", of="y", verdict="accepted", tolerances=0.25)
SEEN = Sensitivity(
    workloads=(Sensed(workload="cpu-4096", controls=(PASSING,), seconds=0.1),),
    tolerance=Tolerance(),
    reason="task twice cannot be scored: 'mean' passes for output y",
    hint="widen the values of x",
)
TIGHT = Sensitivity(workloads=(), tolerance=Tolerance(k=2), tightened_from=Tolerance(k=64))


@pytest.fixture
def known(monkeypatch):
    """What each opening was told; and the executor that answers with ``said[0]``."""
    told, said = [], [SEEN]

    def opened(self, task, known=None, *, controls=True):
        told.append(known)
        if said[0].refused:
            raise InsensitiveTask(said[0])
        return samples.session().model_copy(update={"sensitivity": said[0]})

    monkeypatch.setattr(FakeExecutor, "open", opened)
    return told, said


def test_evaluate_answers_with_the_outcome(folder, capsys, known):
    code = main(["evaluate", "twice", "good.cpp", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert (code, said["outcome"], said["rung"]) == (3, "insensitive_task", "screen")
    assert said["reason"] == SEEN.reason
    assert said["evidence"]["controls"] == [
        {"workload": "cpu-4096", "control": "mean", "of": "y", "tolerances": 0.25}
    ]
    assert main(["evaluate", "twice", "good.cpp"]) == 3
    assert "hint: widen the values of x" in capsys.readouterr().err
    assert FakeExecutor.made[0].closed


def test_the_draft_needs_no_answer(folder, capsys, known):
    assert main(["evaluate", "twice", "good.cpp", "--rung", "draft"]) == 0
    assert known[0] == []


def test_optimize_stops_before_it_starts(folder, capsys, known):
    assert main(["optimize", "twice", "--start", "good.cpp", "--evaluations", "4"]) == 2
    err = capsys.readouterr().err
    assert f"error: {SEEN.reason}" in err
    assert f"hint: {SEEN.hint}" in err
    assert main(["runs", "list", "--json"]) == 0
    assert capsys.readouterr().out.strip() == ""


def test_what_was_seen_is_told_to_the_next_session(folder, capsys, known):
    told, said = known
    for _ in range(2):
        main(["evaluate", "twice", "good.cpp"])
    main(["optimize", "twice", "--start", "good.cpp", "--evaluations", "4"])
    assert told == [None, SEEN, SEEN]
    (folder / "twice" / "reference.py").write_text("def twice(xp, x):\n    return x + x\n")
    said[0] = TIGHT
    main(["optimize", "twice", "--start", "good.cpp", "--evaluations", "4"])
    main(["evaluate", "twice", "good.cpp"])
    assert told[3:] == [None, TIGHT]


def test_a_tightened_tolerance_is_said(folder, capsys, known):
    known[1][0] = TIGHT
    main(["evaluate", "twice", "good.cpp", "--json"])
    policy = json.loads(capsys.readouterr().out)["policy"]
    assert policy["tolerance"]["k"] == 2
    assert policy["tightened_from"]["k"] == 64
    main(["optimize", "twice", "--start", "good.cpp", "--evaluations", "4"])
    assert "(tightened from 64)" in " ".join(capsys.readouterr().out.split())


def test_a_store_that_cannot_be_used_does_not_stop_an_evaluation(folder, capsys, monkeypatch):
    (folder / "text.db").write_text("this is no database, only text " * 40)
    monkeypatch.setenv("KERNELWRIGHT_STORE", str(folder / "text.db"))
    assert main(["evaluate", "twice", "good.cpp"]) == 0
