"""Files that are pipes, stores that are empty, places that cannot be written."""

import json
import os
from pathlib import Path

import pytest

from kernelwright.candidates.text import read_text
from kernelwright.cli.main import main
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.settings import Settings
from kernelwright.tasks.load import load_task
from kernelwright.verbs import machine, sensitivity

TASK = "[axes]\nN = 'free'\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNELWRIGHT_STORE", str(tmp_path / "runs.db"))
    return tmp_path


def said(capsys, *words):
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out.splitlines()[-1])


def pipe(path):
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("f.cpp", ("evaluate", "softmax", "f.cpp", "--rung", "draft")),
        ("f.cpp", ("optimize", "softmax", "--start", "f.cpp", "--dry-run")),
        ("f.cpp", ("compare", "f.cpp", "f.cpp", "--task", "softmax")),
        ("f.cpp", ("audit", "f.cpp", "--task", "softmax", "--claim", "2x")),
        ("f.py", ("tasks", "show", "f.py")),
        ("f.py", ("tasks", "show", "f.py:function")),
        ("f.py", ("tasks", "check", "f.py:function")),
        ("t/task.toml", ("tasks", "show", "t")),
        ("t/task.toml", ("tasks", "show", "t/task.toml")),
        ("kernelwright.toml", ("config",)),
        ("pyproject.toml", ("config",)),
        ("f.db", ("runs", "list", "--store", "f.db")),
        ("f.db", ("runs", "resume", "latest", "--store", "f.db")),
        ("f.db", ("optimize", "softmax", "--dry-run", "--store", "f.db")),
        ("f.db", ("optimize", "softmax", "--store", "f.db")),
    ],
)
def test_a_pipe_is_refused(folder, capsys, file, words):
    pipe(folder / file)
    code, answer = said(capsys, *words)
    assert code == 2
    assert "not a regular file" in answer["error"]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", ["reference.py", "baseline.cpp"])
def test_a_pipe_in_a_task(folder, capsys, name):
    (folder / "t").mkdir()
    (folder / "t/task.toml").write_text(TASK)
    (folder / "t/reference.py").write_text("def t(xp, x):\n    return x\n")
    (folder / "t" / name).unlink(missing_ok=True)
    pipe(folder / "t" / name)
    code, answer = said(capsys, "tasks", "show", "t")
    assert code == 2
    assert "not a regular file" in answer["error"]


@pytest.mark.timeout(30)
def test_a_device_and_a_folder_are_no_text(folder):
    with pytest.raises(OSError, match="not a regular file"):
        read_text(Path("/dev/zero"))
    with pytest.raises(IsADirectoryError):
        read_text(folder)


@pytest.mark.parametrize(
    "words",
    [
        ("runs", "list"),
        ("runs", "show", "latest"),
        ("runs", "resume", "latest"),
        ("runs", "replay", "latest"),
        ("runs", "export", "latest"),
        ("confirm", "latest"),
        ("audit", "latest"),
        ("ship", "latest"),
        ("compare", "latest", "latest"),
    ],
)
def test_an_empty_file_is_no_store(folder, capsys, words):
    (folder / "z.db").touch()
    code, answer = said(capsys, *words, "--store", "z.db")
    assert code == 2
    assert "is an empty file" in answer["error"]
    assert "bring it back from a copy" in answer["hint"]
    assert (folder / "z.db").stat().st_size == 0
    assert sorted(one.name for one in folder.iterdir()) == ["z.db"]


def test_doctor_and_what_is_only_remembered_leave_an_empty_file_alone(folder):
    (folder / "z.db").touch()
    settings = Settings.load({"store": "z.db"})
    task = load_task("softmax", inspector=dict)
    assert sensitivity.known(settings, task) is None
    found = Sensitivity.model_construct()
    assert "is an empty file" in sensitivity.keep(settings, task, found)
    assert machine._store(settings).state == "missing"
    assert (folder / "z.db").stat().st_size == 0


@pytest.mark.parametrize("verb", [("runs", "resume"), ("confirm",)])
def test_going_on_makes_no_store(folder, capsys, verb):
    code, answer = said(capsys, *verb, "latest", "--store", "none/z.db")
    assert code == 2
    assert answer["error"].startswith("no runs yet")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("store", ["/proc/x.db", "/proc/new/x.db", "file/x.db"])
def test_a_dry_run_refuses_a_place_that_cannot_be_written(folder, capsys, store):
    (folder / "file").write_text("x")
    code, answer = said(capsys, "optimize", "softmax", "--dry-run", "--store", store)
    assert code == 2
    assert store in answer["error"]


def test_a_dry_run_refuses_what_is_no_store(folder, capsys):
    (folder / "x.db").write_text("something else, at some length " * 100)
    code, answer = said(capsys, "optimize", "softmax", "--dry-run", "--store", "x.db")
    assert code == 2
    assert "x.db" in answer["error"]


def test_a_dry_run_refuses_more_threads_than_cores(capsys):
    assert said(capsys, "optimize", "softmax", "--dry-run", "--threads", "5000")[0] == 2


def test_a_dry_run_makes_nothing(folder, capsys):
    code, _ = said(capsys, "optimize", "softmax", "--dry-run", "--store", "new/deep/x.db")
    assert code == 0
    assert list(folder.iterdir()) == []
