"""``optimize`` and what follows from a run, on a fake executor and the real search and store."""

import csv
import io
import json
import re
import socket
import sqlite3
import sys

import pandas as pd
import pytest

from kernelwright.cli.main import main
from kernelwright.errors import JudgeError
from kernelwright.executors.base import Executor
from kernelwright.records.rung import Rung
from kernelwright.store.sealed import seal, unsealed
from kernelwright.verbs import runs_export
from tests import samples
from tests.fakes import FakeExecutor

FIELDS = {
    "run", "task", "device", "status", "best", "counts", "spent", "circumstances", "files",
    "policy", "leading", "rejected", "next",
}  # fmt: skip


def said(capsys, line):
    code = main([*line.split(), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def run(folder, capsys):
    code, found = said(capsys, "optimize twice --start good.cpp --proposer tune --evaluations 20")
    assert code == 0
    return found


def test_the_fake_is_an_executor():
    made: Executor = FakeExecutor(threads=1)
    assert made.capacity


def test_fields_of_optimize(run, folder):
    assert set(run) == FIELDS
    assert run["status"] == "improved"
    assert run["task"] == "twice"
    assert run["device"] == "cpu"
    best = run["best"]
    assert set(best) == {
        "candidate", "language", "strategy", "tunables", "source_path", "comparisons", "roofline",
        "earlier", "audits",
    }  # fmt: skip
    assert best["strategy"] == "plain loop"
    assert best["tunables"]["THREADS"] in (1, 2)
    assert {one["baseline"] for one in best["comparisons"]} == {"numpy", "loop"}
    assert set(run["counts"]) == {"drafted", "built", "measured", "by_outcome", "by_rung"}
    assert run["counts"]["drafted"] == 2
    assert run["counts"]["by_rung"]["confirm"] == 1
    assert set(run["spent"]) == {"wall_s", "device_s", "tokens", "usd"}
    assert best["source_path"] in run["files"]
    assert best["source_path"].startswith(str(folder))


def test_options_reach_the_run_and_the_executor(folder, capsys):
    words = "optimize twice --start good.cpp --proposer tune --minutes 0.5 --threads 1 --seed 9"
    code, found = said(capsys, f"{words} --sandbox off --compiler g++ --effort quick")
    assert code == 0
    executor = FakeExecutor.made[-1]
    assert executor.settings["sandbox"] == "off"
    assert executor.settings["compiler"] == "g++"
    assert executor.settings["threads"] == 1
    assert executor.closed
    main(["runs", "export", found["run"], "--form", "folder"])
    text = (folder / "runs" / found["run"] / "run.toml").read_text()
    for line in ('"minutes" = 0.5', '"seed" = 9', '"effort" = "quick"', '"sandbox" = "off"'):
        assert line in text


def test_text_ends_in_what_to_paste(folder, capsys):
    assert main(["optimize", "twice", "--start", "good.cpp", "--proposer", "tune"]) == 0
    out, err = capsys.readouterr()
    assert "2.00x [1.96, 2.04]" in out
    assert err.splitlines()[-1].startswith("next: kernelwright ship ")
    pasted = err.splitlines()[-1].removeprefix("next: kernelwright ").split()
    assert main(pasted) == 0
    assert (folder / "twice.cpp").is_file()


def test_nothing_to_try_is_exit_2(folder, capsys):
    code, found = said(capsys, "optimize twice")
    assert code == 2
    assert "--start FILE" in found["hint"]


def test_no_improvement_is_exit_3(folder, capsys):
    code, found = said(capsys, "optimize twice --start bad.cpp --proposer tune --evaluations 9")
    assert code == 3
    assert found["status"] == "no_improvement"
    assert found["best"] is None
    assert found["counts"]["by_outcome"] == {"wrong_values": 1}


def test_interrupted_is_exit_130_and_resumes(folder, capsys, monkeypatch):
    real, calls = FakeExecutor.wait, []

    def wait(self, timeout=None):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(self, timeout)

    monkeypatch.setattr(FakeExecutor, "wait", wait)
    words = "optimize twice --start good.cpp --proposer tune --evaluations 20"
    assert main(words.split()) == 130
    err = capsys.readouterr().err
    assert "next: kernelwright runs resume " in err
    code, found = said(capsys, err.splitlines()[-1].removeprefix("next: kernelwright "))
    assert code == 0
    assert found["status"] == "improved"
    assert set(found) == FIELDS
    code, found = said(capsys, "runs resume latest")
    assert code == 2
    assert "finished" in found["error"]


def test_a_broken_judge_says_how_to_go_on(folder, capsys, monkeypatch):
    real, calls = FakeExecutor.wait, []

    def wait(self, timeout=None):
        calls.append(1)
        if len(calls) in (3, 4):
            raise JudgeError("the verifier broke off")
        return real(self, timeout)

    monkeypatch.setattr(FakeExecutor, "wait", wait)
    code, found = said(capsys, "optimize twice --start good.cpp --proposer tune")
    for _ in range(2):
        assert code == 1
        assert found["error"] == "the verifier broke off"
        pasted = found["hint"].removesuffix(" goes on where it broke")
        code, found = said(capsys, pasted.removeprefix("kernelwright "))
    assert code == 0
    assert found["status"] == "improved"


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        ("--language fortran", "unknown language 'fortran'", "known: cpp"),
        (
            "--language cuda",
            "kernels in cuda run on a GPU",
            "kernelwright evaluate TASK FILE --rung",
        ),
        ("--proposer expert", "unknown proposer 'expert'", "did you mean 'experts'?"),
        ("--device cuda", "kernels cannot run on cuda", "--device cpu"),
        ("--start none.cpp", "no such file: none.cpp", "check the path"),
        ("--minutes 0", "minutes: must be above 0, not 0", ""),
        ("--target 1", "target: must be above 1, not 1", ""),
        ("--store {folder}/good.cpp", "the store", "the file holds something else"),
    ],
)
def test_what_is_wrong_is_said(folder, capsys, words, error, hint):
    code, found = said(capsys, f"optimize twice {words.format(folder=folder)}")
    assert code == 2
    assert found["error"].startswith(error)
    assert found["hint"].startswith(hint)


def test_a_budget_that_ended_says_how_to_get_a_confirmed_number(folder, capsys):
    words = "optimize twice --start good.cpp --proposer tune --evaluations 3"
    assert main(words.split()) == 4
    out, err = capsys.readouterr()
    assert "out of budget, nothing is confirmed: the budget is too small" in out
    pasted = err.splitlines()[-1].removeprefix("next: kernelwright ")
    assert pasted.startswith("runs resume ")
    assert pasted.endswith(" --evaluations 4")
    code, found = said(capsys, "ship latest")
    assert (code, found["hint"]) == (2, f"kernelwright {pasted}")
    code, found = said(capsys, "runs resume latest")
    assert (code, "--evaluations N" in found["hint"]) == (2, True)
    code, found = said(capsys, "runs resume latest --minutes 1")
    assert code == 2
    assert found["error"].endswith("has no limit of minutes, so 1 more change nothing")
    code, found = said(capsys, pasted)
    assert (code, found["status"]) == (0, "improved")
    code, replayed = said(capsys, "runs replay latest")
    assert (code, replayed["matches"]) == (0, True)


def test_more_budget_from_python(folder):
    import kernelwright

    found = kernelwright.optimize("twice", start="good.cpp", proposer=("tune",), evaluations=3)
    assert found.status == "budget"
    assert kernelwright.resume(found, evaluations=9).status == "improved"


@pytest.fixture
def unconfirmed(folder, monkeypatch):
    """A run that Ctrl-C stopped in the middle of its confirm, as Python has it."""
    import kernelwright

    real = FakeExecutor.judge

    def judge(self, job):
        if job.plan.rung is Rung.CONFIRM:
            raise KeyboardInterrupt
        return real(self, job)

    monkeypatch.setattr(FakeExecutor, "judge", judge)
    found = kernelwright.optimize("twice", start="good.cpp", proposer=("tune",), evaluations=20)
    monkeypatch.setattr(FakeExecutor, "judge", real)
    return found


def test_who_leads_without_a_confirm_is_in_python(unconfirmed):
    import kernelwright

    assert unconfirmed.best is None
    assert unconfirmed.leading.strategy == "plain loop"
    assert unconfirmed.next == f"kernelwright runs resume {unconfirmed.id}"
    assert "not confirmed" in repr(unconfirmed)
    assert unconfirmed.next in repr(unconfirmed)
    done = kernelwright.resume(unconfirmed)
    assert done.best is not None
    assert done.leading is None
    assert "not confirmed" not in repr(done)


def test_who_leads_without_a_confirm_is_shown_and_exported(unconfirmed, folder, capsys):
    who = unconfirmed.leading
    assert main(["runs", "show", "latest"]) == 0
    out, err = capsys.readouterr()
    assert re.search(rf"^leading +not confirmed: plain loop\s.*\s.*{who.id}", out, re.MULTILINE)
    assert not re.search(r"\dx", out)
    path = folder / "runs" / unconfirmed.id / "leading.cpp"
    assert f"not confirmed, is kept in {path}" in err
    found = said(capsys, "runs show latest")[1]
    assert found["best"] is None
    assert found["leading"]["candidate"] == who.id
    assert found["leading"]["source_path"] == str(path)
    assert found["next"] == [unconfirmed.next]
    assert main(["runs", "export", "latest", "--form", "folder", "--to", "copy"]) == 0
    text = (folder / "copy" / "leading.cpp").read_text()
    assert text == path.read_text()
    assert text.startswith("// NOT CONFIRMED")
    assert main(["evaluate", "twice", "copy/leading.cpp", "--rung", "draft"]) == 0
    kept = {"leading.cpp", "run.toml", "events.jsonl"}
    assert {file.name for file in path.parent.iterdir()} == kept
    capsys.readouterr()
    said(capsys, "runs resume latest")
    assert {file.name for file in path.parent.iterdir()} == kept - {"leading.cpp"} | {"best.cpp"}


@pytest.fixture
def interrupted(folder, capsys, monkeypatch):
    """A run that Ctrl-C stopped; its id."""
    real = FakeExecutor.wait

    def wait(self, timeout=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(FakeExecutor, "wait", wait)
    code, found = said(capsys, "optimize twice --start good.cpp --proposer tune --evaluations 20")
    monkeypatch.setattr(FakeExecutor, "wait", real)
    assert code == 130
    return found["run"]


def states(capsys):
    """What ``runs list`` and ``runs show`` say of the only run."""
    main(["runs", "list", "--json"])
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    code, shown = said(capsys, "runs show latest")
    assert code == 0
    main(["runs", "show", "latest"])
    return row["status"], shown["status"], capsys.readouterr()


def test_a_resumed_run_is_running_from_the_first_moment(interrupted, capsys, monkeypatch):
    seen, real = [], FakeExecutor.open

    def open_(self, task, known=None):
        seen.append(states(capsys))
        return real(self, task, known)

    assert states(capsys)[:2] == ("interrupted", "interrupted")
    monkeypatch.setattr(FakeExecutor, "open", open_)
    assert main(["runs", "resume", "latest"]) == 0
    ((listed, shown, text),) = seen
    assert (listed, shown) == ("running", "running")
    assert "status     running\n" in text.out
    assert "next:" not in text.err
    capsys.readouterr()
    assert states(capsys)[:2] == ("improved", "improved")


def test_a_killed_run_is_interrupted(interrupted, folder, capsys):
    with sqlite3.connect(folder / "runs.db") as connection:
        owner = f"{socket.gethostname()}:{2**22 + 1}:1"
        connection.execute("update runs set status = 'running', owner = ?", (owner,))
        ((name, text),) = connection.execute("select id, json from runs").fetchall()
        plain = unsealed(text, name).replace('"interrupted"', '"running"')
        text = seal(plain.replace("interrupted by the user", ""), name)
        connection.execute("update runs set json = ?", (text,))
    connection.close()
    listed, shown, text = states(capsys)
    assert (listed, shown) == ("interrupted", "interrupted")
    assert "next: kernelwright runs resume " in text.err


def test_dry_run_touches_nothing(folder, capsys):
    words = "optimize twice --dry-run --start good.cpp --effort thorough --target 2"
    code, found = said(capsys, words)
    assert code == 0
    assert found["dry_run"] is True
    assert found["minutes"] == 15
    assert found["workloads"] == ["cpu-4096"]
    assert found["start"] == ["good.cpp"]
    assert found["target"] == 2
    assert FakeExecutor.made == []
    assert not (folder / "runs.db").exists()
    assert main(words.split()) == 0
    assert "15 minutes of wall time" in capsys.readouterr().out


def test_list_show_replay(run, capsys):
    main(["runs", "list", "--json"])
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert row["run"] == run["run"]
    assert row["task"] == "twice"
    assert row["best"] == run["best"]["candidate"]
    for name in ("latest", run["run"], run["run"][:12]):
        code, shown = said(capsys, f"runs show {name}")
        assert (code, shown) == (0, run)
    code, replayed = said(capsys, "runs replay latest")
    assert code == 0
    assert replayed["matches"]
    assert replayed["decisions"] > 5


def test_list_of_another_task_is_empty(run, capsys):
    assert main(["runs", "list", "--task", "other", "--json"]) == 0
    assert capsys.readouterr().out == ""


def test_show_of_a_failed_run_is_still_an_answer(folder, capsys):
    assert main(["optimize", "twice", "--start", "bad.cpp", "--proposer", "tune"]) == 3
    capsys.readouterr()
    assert main(["runs", "show", "latest"]) == 0
    assert "no improvement" in capsys.readouterr().out


def test_export(run, folder, capsys):
    main(["runs", "export", "latest"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
    assert rows[-1]["rung"] == "confirm"
    main(["runs", "export", "latest", "--form", "csv", "--to", "rows.csv"])
    assert capsys.readouterr().out == "rows.csv\n"
    table = list(csv.DictReader(io.StringIO((folder / "rows.csv").read_text())))
    assert [row["rung"] for row in table] == [row["rung"] for row in rows]
    assert main(["runs", "export", "latest", "--form", "parquet"]) == 2


def test_parquet_without_its_package_names_the_extra(run, folder, capsys, monkeypatch):
    for name in ("pyarrow", "fastparquet"):
        monkeypatch.setitem(sys.modules, name, None)
    code, found = said(capsys, "runs export latest --form parquet --to rows.parquet")
    assert code == 2
    assert found["error"] == "Parquet needs the package 'pyarrow', which is missing"
    assert "pip install 'kernelwright[parquet]'" in found["hint"]
    assert "scripts/setup --parquet" in found["hint"]
    assert not (folder / "rows.parquet").exists()


def test_parquet(run, folder, capsys):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    assert main(["runs", "export", "latest", "--form", "parquet", "--to", "rows.parquet"]) == 0
    table = pd.read_parquet(folder / "rows.parquet")
    assert list(table["rung"])[-1] == "confirm"


def test_columns_of_a_table_have_one_type():
    rows = [
        {"tune.HOW": "row", "tune.BLOCK": 8, "ratio": 1},
        {"tune.HOW": 4, "tune.BLOCK": 16, "ratio": 1.5},
        {"tune.BLOCK": 32},
    ]
    table = runs_export._typed(rows)
    assert list(table["tune.HOW"].dropna()) == ["row", "4"]
    assert list(table["tune.BLOCK"]) == [8, 16, 32]
    assert list(table["ratio"].dropna()) == [1.0, 1.5]


def test_ship_writes_a_candidate(run, folder, capsys):
    code, shipped = said(capsys, "ship latest --to out/")
    assert code == 0
    assert shipped["candidate"] == run["best"]["candidate"]
    assert shipped["files"] == ["out/twice.cpp"]
    code, judged = said(capsys, "evaluate twice out/twice.cpp")
    assert (code, judged["outcome"]) == (0, "passed")
    code, refused = said(capsys, "ship latest --to out/twice.cpp")
    assert code == 2
    assert refused["hint"] == "choose another name for --to, or replace it with --force"
    assert main(["ship", "latest", "--to", "out/twice.cpp", "--force"]) == 0


ABOUT_A_RUN = [
    "runs show", "runs resume", "runs replay", "runs export", "ship", "confirm", "audit",
]  # fmt: skip


@pytest.mark.parametrize("words", ABOUT_A_RUN)
def test_no_runs_yet(folder, capsys, words):
    code, found = said(capsys, f"{words} latest")
    assert code == 2
    assert found["error"].startswith(f"no runs yet in sqlite:///{folder}/runs.db")
    assert found["hint"] == "kernelwright optimize softmax makes one"
    code, found = said(capsys, f"{words} 2026")
    assert found["error"].startswith("'2026' is no run: there are none in sqlite:///")
    assert found["hint"] == "kernelwright optimize softmax makes one"


@pytest.mark.parametrize(
    "words",
    [
        "runs show",
        "runs resume",
        "runs replay",
        "runs export",
        "confirm",
        "audit",
        "compare latest",
    ],
)
def test_unknown_run(run, capsys, words):
    code, found = said(capsys, f"{words} nothing")
    assert code == 2
    assert found == {
        "error": "'nothing' is not a run in this store",
        "hint": "kernelwright runs list shows them",
    }


def test_kernelbench_needs_its_format(run, capsys):
    code, found = said(capsys, "ship latest --as kernelbench")
    assert code == 2
    assert found["error"] == "task 'twice' is not in KernelBench format"
    assert found["hint"].endswith("--as file")


def test_api(folder):
    import kernelwright

    found = kernelwright.optimize(
        "twice", start="good.cpp", proposer=("tune",), evaluations=20, store="own.db"
    )
    assert found.status == "improved"
    assert found.best.strategy == "plain loop"
    assert "2.00x [1.96, 2.04]" in found.summary()
    frame = found.to_frame()
    assert list(frame["rung"])[-1] == "confirm"
    assert found.id in repr(found)
    assert [row.run for row in kernelwright.list_runs(store="own.db").rows()] == [found.id]
    assert kernelwright.open_run(found.id, store="own.db").summary() == found.summary()
    assert found.ship(to="x.cpp").files == ("x.cpp",)
    with pytest.raises(kernelwright.UsageError, match="finished"):
        kernelwright.resume(found)


def test_api_evaluate(folder):
    import kernelwright

    assert kernelwright.evaluate("twice", "bad.cpp").outcome == "wrong_values"
    verdict = kernelwright.evaluate("twice", samples.SOURCE, rung="full")
    assert verdict.outcome == "passed"
    assert verdict.evaluation.comparisons[0].ratio == 2.0
    with pytest.raises(kernelwright.UsageError, match="rung"):
        kernelwright.evaluate("twice", "bad.cpp", rung="fulll")


def test_a_run_of_rejections_says_why_and_how_to_look_closer(folder, capsys):
    assert (
        main(
            ["optimize", "twice", "--start", "bad.cpp", "--proposer", "tune", "--evaluations", "9"]
        )
        == 3
    )
    out, err = capsys.readouterr()
    assert "everything was tried" not in out
    words = " ".join(out.split())
    assert "rejected wrong_values: output y differs from the reference by 3.2 tolerances" in words
    last = err.splitlines()[-1]
    assert last == "next: kernelwright evaluate TASK bad.cpp --tune THREADS=1 --rung smoke"
    assert main(["runs", "show", "latest"]) == 0
    shown = capsys.readouterr()
    assert "rejected   wrong_values" in shown.out
    assert last in shown.err
    code, shipped = said(capsys, "ship latest")
    assert code == 2
    assert "more time" not in shipped["hint"]
    assert "kernelwright evaluate TASK bad.cpp" in shipped["hint"]


def test_comparisons_of_a_run_say_what_they_rest_on(run, capsys):
    (row, *_) = said(capsys, "runs show latest")[1]["best"]["comparisons"]
    assert (row["margin"], row["pairs"]) == (0.01, 100)
    assert (row["candidate_us"], row["baseline_us"]) == (50.0, 100.0)
