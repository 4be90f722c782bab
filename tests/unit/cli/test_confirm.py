"""``confirm`` on a fake executor: which number a run has afterwards, and what a face may say."""

import json

import pytest

import kernelwright
from kernelwright.cli.main import main
from kernelwright.errors import JudgeError
from kernelwright.records.measurement import Comparison
from kernelwright.records.outcome import Decision
from tests.fakes import FakeExecutor


def said(capsys, line):
    code = main([*line.split(), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def cut(folder, capsys, monkeypatch):
    """A run that Ctrl-C stopped as its leader was going to be confirmed."""
    real = FakeExecutor.submit

    def submit(self, job):
        if job.plan.all_baselines:
            raise KeyboardInterrupt
        real(self, job)

    with monkeypatch.context() as patch:
        patch.setattr(FakeExecutor, "submit", submit)
        words = "optimize twice --start good.cpp --proposer tune --evaluations 20 --seed 5"
        code, found = said(capsys, f"{words} --threads 1 --sandbox off --compiler g++")
    assert (code, found["status"], found["best"]) == (130, "interrupted", None)
    return found


def test_a_run_without_a_number_gets_one(cut, capsys):
    code, found = said(capsys, "confirm latest")
    assert (code, found["status"]) == (0, "improved")
    assert found["best"]["comparisons"][0]["ratio"] == 2.0
    assert found["counts"]["by_rung"]["confirm"] == 1
    assert any(path.endswith("best.cpp") for path in found["files"])
    code, replayed = said(capsys, "runs replay latest")
    assert (code, replayed["matches"]) == (0, True)
    code, shipped = said(capsys, "ship latest")
    assert (code, shipped["candidate"]) == (0, found["best"]["candidate"])


def test_it_is_judged_as_the_run_began(cut, capsys):
    said(capsys, "confirm latest")
    executor = FakeExecutor.made[-1]
    assert executor.closed
    assert executor.settings["threads"] == 1
    assert executor.settings["sandbox"] == "off"
    assert executor.settings["compiler"] == "g++"
    (job,) = executor.jobs
    assert job.plan.all_baselines
    assert (job.threads, job.sandbox) == (1, "off")


def test_again_for_the_best(cut, capsys):
    said(capsys, "confirm latest")
    code, found = said(capsys, f"confirm {cut['run'][:12]}")
    assert (code, found["status"]) == (0, "improved")
    assert [one["outcome"] for one in found["best"]["earlier"]] == ["passed"]
    assert main(["runs", "show", "latest"]) == 0
    assert "earlier    confirmed 2.00x [1.96, 2.04] against numpy" in capsys.readouterr().out


def test_the_text_is_that_of_a_run_and_its_progress_is_told(cut, capsys):
    assert main(["confirm", "latest"]) == 0
    out, err = capsys.readouterr()
    assert "status     improved" in out
    assert "confirming plain loop THREADS=" in err
    assert err.splitlines()[-1].startswith("next: kernelwright ship ")


def test_a_no_is_exit_3_and_drops_the_old_number(cut, capsys, monkeypatch):
    said(capsys, "confirm latest")
    with monkeypatch.context() as patch:
        patch.setattr("tests.samples.comparison", slower)
        code, found = said(capsys, "confirm latest")
    assert (code, found["status"], found["best"]) == (3, "no_improvement", None)
    code, shipped = said(capsys, "ship latest")
    assert (code, "no confirmed winner" in shipped["error"]) == (2, True)


def slower(baseline="numpy", ratio=2.0, **fields):
    return Comparison(
        baseline=baseline, workload="cpu-4096", ratio=0.5, low=0.4, high=0.6, margin=0.01,
        decision=Decision.SLOWER, pairs=9, candidate_us=2.0, baseline_us=1.0,
    )  # fmt: skip


def test_nobody_to_confirm(folder, capsys):
    said(capsys, "optimize twice --start bad.cpp --proposer tune --evaluations 9")
    code, found = said(capsys, "confirm latest")
    assert code == 2
    assert found["error"].endswith("no candidate passed a timed look")
    assert found["hint"]


def test_a_machine_with_fewer_cores_is_told_what_is_lacking(cut, capsys, monkeypatch):
    monkeypatch.setattr("kernelwright.devices.detect.cores", lambda: 0)
    for words in ("confirm latest", "runs resume latest"):
        code, found = said(capsys, words)
        assert code == 2
        assert found["error"].endswith("has more threads (1) than cores here (0)")
        assert found["hint"] == "do this on a machine that has as many"


def test_a_judge_that_breaks_changes_nothing(cut, capsys, monkeypatch):
    def wait(self, timeout=None):
        raise JudgeError("the verifier broke off")

    with monkeypatch.context() as patch:
        patch.setattr(FakeExecutor, "wait", wait)
        code, found = said(capsys, "confirm latest")
    assert (code, found["error"]) == (1, "the verifier broke off")
    code, found = said(capsys, "runs show latest")
    assert found == cut


def test_from_python(cut):
    found = kernelwright.open_run(cut["run"]).confirm()
    assert (found.status, found.id) == ("improved", cut["run"])
    assert found.best is not None
    assert kernelwright.confirm_run("latest").status == "improved"


def test_a_file_is_told_where_to_go(folder, capsys):
    code, found = said(capsys, "confirm good.cpp")
    assert (code, found["error"]) == (2, "good.cpp is a file, not a run")
    assert found["hint"].startswith("kernelwright evaluate TASK good.cpp --rung confirm")
    assert FakeExecutor.made == []
