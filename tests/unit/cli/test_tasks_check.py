"""``tasks check``: what is wrong with a task, said once, with what to do about it."""

import functools
import json
import os
import subprocess
from contextlib import closing

import pytest

from kernelwright.cli.main import main
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.store.store import Store, content_hash
from kernelwright.verbs import setup, tasks_check
from tests import samples


def said(capsys, *words):
    code = main([*words, "--json"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return code, lines


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNELWRIGHT_STORE", str(tmp_path / "store.db"))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("return 2 * x", ""),
        ("return x[:3]", "shape"),
        ("return xp.astype(x, xp.int32)", "declared is float32"),
        ("return xp.zeros_like(x)", "the answers of two seeds for output y differ by nothing"),
        ("return x / xp.zeros_like(x)", "64 elements that are not finite"),
        ("x += 1; return x", "writes into its input 'x'"),
        ("return None", "returned a NoneType"),
        ("import os; os._exit(7)", "code 7"),
        ("import random; return x * random.random()", "differs between two evaluations"),
    ],
)
def test_tasks_check(capsys, tmp_path, body, problem, installed):
    samples.write_task(tmp_path / "mine", body)
    code, (found,) = said(capsys, "tasks", "check", "mine")
    (row,) = found["workloads"]
    assert code == (3 if problem else 0)
    assert found["ok"] is not bool(problem)
    seen = found["sensitivity"]
    assert row["ok"] is (seen is not None)
    assert problem in " ".join((*row["problems"], seen["reason"] if seen else ""))
    assert row["outputs"] == {"y": "[64] float32"}
    assert bool(row["hints"]) is bool(row["problems"])
    main(["tasks", "check", "mine"])
    assert ("hint: " in capsys.readouterr().err) is bool(problem)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise KeyError('weights')", "reference.py:2: the reference raised KeyError: 'weights'"),
        ("import absent_package", "the reference needs the package 'absent_package'"),
        ("while True: pass", "reference.py:2: the reference did not return within 1 s"),
    ],
)
def test_a_reference_that_does_not_return_is_one_error(
    capsys, monkeypatch, tmp_path, body, words, installed
):
    samples.write_task(tmp_path / "mine", body)
    monkeypatch.setattr(tasks_check, "Oracle", functools.partial(Oracle, deadline=1))
    assert main(["tasks", "check", "mine"]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"error: {words}")
    assert "\nhint: " in err
    assert not out
    assert "kernelwright/" not in err


def test_a_workload_that_asks_for_nothing_is_refused(capsys, tmp_path, installed):
    samples.write_task(tmp_path / "mine", "return 2 * x", size=0)
    code, (found,) = said(capsys, "tasks", "check", "mine")
    assert (code, found["hint"][:18]) == (2, "give it sizes abov")
    assert "workload small of task mine has no output elements" in found["error"]


def test_tasks_check_shows_every_control_and_keeps_what_it_saw(capsys, tmp_path, installed):
    samples.write_task(tmp_path / "mine", "return xp.exp(x)")
    place = f"{tmp_path}/seen.db"
    code, (found,) = said(capsys, "tasks", "check", "mine", "--store", place)
    assert code == 0
    controls = found["sensitivity"]["workloads"][0]["controls"]
    assert {"zeros", "mean", "another_seed", "perturbed", "rounded"} <= {
        one["name"] for one in controls
    }
    with closing(Store.open(place)) as store:
        kept = store.sensitivity(content_hash(setup.task("mine")))
    assert kept is not None
    assert kept.model_dump(mode="json") == found["sensitivity"]
    main(["tasks", "check", "mine", "--store", place])
    out = capsys.readouterr().out
    assert "rejected (" in out
    assert "every wrong answer is rejected" in out


def test_tasks_check_works_without_a_store_and_says_so(capsys, tmp_path, installed):
    samples.write_task(tmp_path / "mine", "return xp.exp(x)")
    (tmp_path / "text.db").write_text("this is no database, only text " * 40)
    assert main(["tasks", "check", "mine", "--store", str(tmp_path / "text.db")]) == 0
    assert "not kept for the next run: the store" in capsys.readouterr().err


def test_tasks_check_says_what_to_change(capsys, tmp_path, installed):
    samples.write_task(tmp_path / "mine", "return 1000 + 0.0001 * xp.tanh(x)")
    assert main(["tasks", "check", "mine"]) == 3
    out, err = capsys.readouterr()
    assert "ACCEPTED" in out
    assert "hint: " in err


@pytest.fixture
def installed():
    """The oracle is an isolated process: it sees installed packages only."""
    import sys

    probe = [sys.executable, "-I", "-c", "import kernelwright"]
    if subprocess.run(probe, capture_output=True, env=dict(os.environ)).returncode:
        pytest.skip("kernelwright is not installed for isolated processes")
