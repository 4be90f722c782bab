"""What a person gets wrong, and what they are told: exit 2, one sentence, what to do."""

import os
import sqlite3

import pytest

from kernelwright.store.store import Store
from tests.e2e.conftest import GOOD, REFERENCE, TASK

EVALUATE = ("evaluate", "poly", "good.cpp", "--rung", "draft")


def task(folder, name, toml=TASK, reference=REFERENCE):
    if toml is not None:
        folder.write(f"{name}/task.toml", toml)
    if reference is not None:
        folder.write(f"{name}/reference.py", reference)
    return name


def wrong(folder, *words, code=2, **environment):
    """The error and hint, which must agree on both streams."""
    got, said = folder.json(*words, **environment)
    assert got == code, said
    assert set(said) == {"error", "hint"}
    assert said["error"]
    assert not said["error"].splitlines()[0].endswith(".")
    return said["error"], said["hint"]


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (("optimize", "sofmax"), "unknown task 'sofmax'", "did you mean 'softmax'?"),
        (("optimize", "no/such/folder"), "there is no file no/such/folder", ""),
        (("optimize", "mine.py:f"), "there is no file mine.py", ""),
        (("evaluate", "poly", "none.cpp"), "no such file: none.cpp", ""),
        ((*EVALUATE, "--compiler", "g+++"), "unknown compiler 'g+++'", "g++ or clang++"),
        ((*EVALUATE, "--compiler", "g++-99"), "no C++ compiler: g++-99", "install g++"),
        (("runs", "show", "zzz"), "'zzz' is no run: there are none", "kernelwright optimize"),
        (("ship", "latest"), "no runs yet in sqlite:///", "kernelwright optimize"),
        (("evaluate", "good.cpp", "poly"), "the task comes first", "kernelwright evaluate poly"),
        (("optimize", "good.cpp"), "good.cpp is a kernel, not a task", "a task is a name"),
        (("optimize", "poly", "--proposer", "experts"), "there is nothing to try", "give a kernel"),
        (("tasks", "show", "poly", "--contract", "rust"), "unknown language 'rust'", "known: cpp"),
    ],
)
def test_names(folder, words, error, hint):
    said = wrong(folder, *words)
    assert said[0].startswith(error)
    assert said[1].startswith(hint)


def test_no_compiler(folder):
    error, hint = wrong(folder, *EVALUATE, PATH=str(folder.path / "empty"))
    assert error.startswith("no C++ compiler")
    assert "install g++" in hint
    code, said = folder.json("doctor", PATH=str(folder.path / "empty"))
    assert code == 2
    assert not said["usable"]


BROKEN_TASKS = {
    "toml": ({"toml": TASK.replace('name = "poly"', "name = = 1")}, "task.toml:2"),
    "field": ({"toml": TASK.replace("summary", "sumary")}, "sumary"),
    "dtype": ({"toml": TASK.replace("float32", "float33")}, "float33"),
    "axis": ({"toml": TASK.replace('shape = ["N"]', 'shape = ["K"]')}, "'K'"),
    "python": ({"reference": "def poly(xp, x)\n    return x\n"}, "reference.py:1"),
    "entry": ({"reference": "def other(xp, x):\n    return x\n"}, "poly"),
    "no reference": ({"reference": None}, "reference.py"),
    "raises": ({"reference": "def poly(xp, x):\n    raise KeyError('w')\n"}, "KeyError"),
    "shape": ({"reference": "def poly(xp, x):\n    return x[:2]\n"}, "shape"),
    "exits": ({"reference": "import os\ndef poly(xp, x):\n    os._exit(3)\n"}, "code 3"),
    "import": ({"reference": "import nopackage\ndef poly(xp, x):\n    return x\n"}, "nopackage"),
}


@pytest.mark.parametrize("name", BROKEN_TASKS)
def test_a_task_that_does_not_work(folder, name):
    files, word = BROKEN_TASKS[name]
    place = task(folder, f"broken/{name.replace(' ', '_')}", **files)
    error, _ = wrong(folder, "evaluate", place, "good.cpp", "--rung", "smoke")
    assert word in error


def test_a_reference_that_exits_leaves_the_next_task_alone(folder):
    code, said = folder.json(*EVALUATE)
    assert code == 0, said
    assert said["outcome"] == "passed"


@pytest.mark.parametrize(
    ("name", "source", "error"),
    [
        ("open", GOOD.replace("// ///\n", "", 1), "header"),
        ("toml", GOOD.replace("[1, 2]", "[1, 2"), "line"),
        ("key", GOOD.replace("strategy", "stratgy"), "stratgy"),
        ("where", GOOD.replace("THREADS <= cores", "THREADS <= core"), "core"),
        ("impossible", GOOD.replace("THREADS <= cores", "THREADS > 1000"), "no values"),
    ],
)
def test_a_header_that_does_not_work(folder, name, source, error):
    file = folder.write(f"headers/{name}.cpp", source)
    said, _ = wrong(folder, "evaluate", "poly", file, "--rung", "draft")
    assert said.startswith(file)
    assert error in said


def test_a_flag_that_is_not_allowed_is_a_verdict(folder):
    source = GOOD.replace("// where", '// flags = ["-fplugin=evil"]\n// where')
    code, said = folder.json("evaluate", "poly", folder.write("flags.cpp", source))
    assert code == 3, said
    assert said["outcome"] == "parse_error"
    assert "-fplugin" in said["reason"]


class TestStore:
    def test_of_something_else(self, folder):
        folder.write("text.db", "this is no database, only text " * 40)
        error, hint = wrong(folder, "runs", "list", "--store", "text.db")
        assert "text.db" in error
        assert "something else" in hint

    def test_of_a_newer_version(self, folder):
        Store.open(str(folder.path / "newer.db")).close()
        with sqlite3.connect(folder.path / "newer.db") as connection:
            connection.execute("update meta set value = '999' where name = 'schema_version'")
        connection.close()
        error, hint = wrong(folder, "runs", "list", "--store", "newer.db")
        assert "999" in error
        assert "upgrade" in hint

    def test_below_a_file(self, folder):
        folder.write("file", "x")
        error, hint = wrong(
            folder, "optimize", "poly", "--start", "good.cpp", "--store", "file/runs.db"
        )
        assert "file/runs.db" in error
        assert hint

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
    def test_in_a_folder_that_is_read_only(self, folder):
        place = folder.path / "locked"
        place.mkdir(mode=0o500)
        words = ("optimize", "poly", "--start", "good.cpp", "--store", "locked/runs.db")
        assert "written" in wrong(folder, *words)[1]
        assert folder.run("runs", "list", "--store", "locked/runs.db")[0] == 0

    def test_of_an_unknown_kind(self, folder):
        error, _ = wrong(folder, "runs", "list", "--store", "nosuch://host/db")
        assert "nosuch" in error


def test_settings(folder):
    folder.write("configured/kernelwright.toml", "threads = 'many'\n")
    inner = type(folder)(folder.path / "configured")
    error, _ = wrong(inner, "config")
    assert "kernelwright.toml:1: threads = 'many'" in error
    error, _ = wrong(folder, "config", KERNELWRIGHT_EFFORT="heroic")
    assert error.startswith("environment KERNELWRIGHT_EFFORT")
