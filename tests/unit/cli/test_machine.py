"""``doctor``, ``config`` and ``tasks``: what the machine can do, and what there is to do."""

import json
import re
import shutil
import stat
from importlib import metadata

import pytest

from kernelwright import plugins, sandbox
from kernelwright.cli.main import main
from kernelwright.errors import JudgeError
from kernelwright.languages.base import Availability
from kernelwright.verbs import isolation, machine
from tests import samples


def said(capsys, *words):
    code = main([*words, "--json"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return code, lines


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNELWRIGHT_STORE", str(tmp_path / "store.db"))
    monkeypatch.setattr(sandbox, "probe", lambda mode: {"active": ["limits"], "unavailable": {}})


def compiler(folder, name, script):
    """A compiler that does what the test wants."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


GOOD = """
[ "$1" = --version ] && { echo "g++ 99"; exit 0; }
for last; do :; done
printf '#!/bin/sh\\necho 4\\n' > "$last"; chmod +x "$last"
"""
NO_OPENMP = GOOD.replace("echo 4", "echo 1")
BROKEN = '[ "$1" = --version ] && { echo "g++ 99"; exit 0; }\necho "error: no disk" >&2; exit 1'
NO_LIBRARY = GOOD.replace(
    "for last", '[ "$2" = -fopenmp ] && { echo "no -lgomp" >&2; exit 1; }\nfor last'
)


@pytest.fixture
def only(tmp_path, monkeypatch):
    """A PATH that holds the named compilers and a shell, nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("sh", "chmod"):
        (folder / tool).symlink_to(shutil.which(tool))
    monkeypatch.setenv("PATH", str(folder))
    return folder


def findings(capsys):
    code, (answer,) = said(capsys, "doctor")
    return code, answer["usable"], {one["name"]: one for one in answer["findings"]}


def test_a_compiler_that_works(only, capsys):
    compiler(only, "g++", GOOD)
    code, usable, found = findings(capsys)
    assert (code, usable) == (0, True)
    assert found["g++"]["state"] == "ok"
    assert found["g++"]["detail"] == "g++ 99; OpenMP works"
    assert found["clang++"]["state"] == "missing"
    assert found["clang++"]["optional"]


def test_no_compiler_is_exit_2_with_the_command_that_mends_it(only, capsys):
    code, usable, found = findings(capsys)
    assert (code, usable) == (2, False)
    assert "g++" in found["g++"]["mend"]
    (only / "apt-get").symlink_to("/bin/true")
    assert findings(capsys)[2]["g++"]["mend"] == "apt-get install g++"


@pytest.mark.parametrize(
    ("script", "state", "detail"),
    [
        (BROKEN, "missing", "error: no disk"),
        (NO_OPENMP, "limited", "one thread"),
        (NO_LIBRARY, "limited", "no -lgomp"),
    ],
)
def test_a_compiler_without_openmp(only, capsys, script, state, detail):
    compiler(only, "g++", script)
    code, usable, found = findings(capsys)
    assert found["g++"]["state"] == state
    assert detail in found["g++"]["detail"]
    assert found["g++"]["mend"]
    assert (code, usable) == ((0, True) if state == "limited" else (2, False))


def test_a_compiler_by_another_name(only, capsys, monkeypatch):
    compiler(only, "g++-99", GOOD)
    monkeypatch.setenv("KERNELWRIGHT_COMPILER", "g++-99")
    code, _, found = findings(capsys)
    assert code == 0
    assert found["g++-99"]["state"] == "ok"


def test_the_compiler_that_was_chosen_counts(only, capsys, monkeypatch):
    compiler(only, "g++", GOOD)
    monkeypatch.setenv("KERNELWRIGHT_COMPILER", "clang++")
    code, usable, found = findings(capsys)
    assert (code, usable) == (2, False)
    assert found["clang++"]["mend"]


def test_isolation(only, capsys, monkeypatch):
    compiler(only, "g++", GOOD)
    lacking = {"active": ["limits"], "unavailable": {"landlock": "not in this kernel"}}
    monkeypatch.setattr(sandbox, "probe", lambda mode: lacking)
    code, _, found = findings(capsys)
    assert code == 0
    assert found["sandbox"]["state"] == "limited"
    assert found["sandbox"]["detail"] == "1 of 2 layers; without landlock"
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^landlock +missing +not in this kernel$", said, re.MULTILINE)
    assert re.search(r"^limits +ok +more memory", said, re.MULTILINE)
    assert "Linux 5.13" in found["sandbox"]["mend"]
    monkeypatch.setenv("KERNELWRIGHT_SANDBOX", "require")
    assert findings(capsys)[0] == 2

    def broken(mode):
        raise JudgeError("nothing starts")

    monkeypatch.setattr(sandbox, "probe", broken)
    assert findings(capsys)[2]["sandbox"]["detail"] == "nothing starts"


def test_isolation_that_is_whole_is_said_in_a_line(only, capsys):
    compiler(only, "g++", GOOD)
    sandbox_found = findings(capsys)[2]["sandbox"]
    assert (sandbox_found["state"], sandbox_found["detail"]) == ("ok", "all 1 layers")
    assert [one["name"] for one in sandbox_found["layers"]] == ["limits"]


def test_every_layer_is_explained():
    source = (sandbox.JAIL / "confine.py").read_text()
    assert set(isolation.TAKES_AWAY) == set(re.findall(r'report\.attempt\("(\w+)"', source))


def test_a_store_that_cannot_be_written(only, capsys, monkeypatch, tmp_path):
    compiler(only, "g++", GOOD)
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("KERNELWRIGHT_STORE", str(tmp_path / "file" / "store.db"))
    code, usable, found = findings(capsys)
    assert (code, usable) == (2, False)
    assert found["store"]["state"] == "missing"
    assert found["store"]["mend"]


def test_one_core_and_little_memory_are_limits(only, capsys, monkeypatch):
    compiler(only, "g++", GOOD)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    monkeypatch.setattr(machine, "LEAST_MEMORY", 1 << 60)
    monkeypatch.setattr(machine, "LEAST_DISK", 1 << 60)
    code, _, found = findings(capsys)
    assert code == 0
    assert {found[name]["state"] for name in ("cores", "memory", "disk")} == {"limited"}


class Rust:
    """A language of somebody else's."""

    said = Availability("rustc 1.99")

    def available(self):
        return self.said


def test_languages_say_of_themselves_whether_they_can_be_used(only, capsys, monkeypatch):
    compiler(only, "g++", GOOD)
    monkeypatch.setitem(plugins.BUILT_IN["languages"], "rust", f"{__name__}:Rust")
    assert findings(capsys)[2]["rust"]["detail"] == "rustc 1.99"
    monkeypatch.setattr(Rust, "said", Availability(reason="there is no rustc", hint="get rustup"))
    code, _, found = findings(capsys)
    assert code == 0
    assert found["rust"]["state"] == "missing"
    assert found["rust"]["detail"] == "there is no rustc; only for what is written in rust"
    assert found["rust"]["mend"] == "get rustup"
    monkeypatch.setitem(plugins.BUILT_IN["languages"], "rust", "no_such_package.rust:Rust")
    assert "'no_such_package'" in findings(capsys)[2]["rust"]["detail"]


def test_text_and_hints(only, capsys):
    assert main(["doctor"]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("what")
    assert "hint: g++: " in err
    assert err.splitlines()[-1] == "optimize cannot run here yet"


def test_every_installer_knows_both_compilers():
    for commands in machine.INSTALL.values():
        assert set(commands) == {"g++", "clang++"}


def test_config(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELWRIGHT_SEDE", "3")
    (tmp_path / "kernelwright.toml").write_text("seed = 4\n")
    code, rows = said(capsys, "config")
    assert code == 0
    by_name = {row["name"]: row for row in rows}
    assert by_name["seed"]["value"] == 4
    assert by_name["seed"]["source"].endswith("kernelwright.toml:1")
    assert by_name["store"]["source"] == "environment KERNELWRIGHT_STORE"
    assert by_name["proposer"]["value"] == ["experts", "tune"]
    assert main(["config"]) == 0
    assert capsys.readouterr().err == "hint: KERNELWRIGHT_SEDE is not a setting and is ignored\n"


def test_config_says_what_an_empty_store_stands_for(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("KERNELWRIGHT_STORE")
    monkeypatch.setenv("KERNELWRIGHT_HOME", str(tmp_path / "home"))
    _, rows = said(capsys, "config")
    (store,) = [row["value"] for row in rows if row["name"] == "store"]
    assert store == f"sqlite:///{tmp_path}/home/store.db"


def test_a_broken_settings_file_stops_every_verb(capsys, tmp_path):
    (tmp_path / "kernelwright.toml").write_text("seed = = 4\n")
    for words in (["config"], ["doctor"], ["runs", "list"]):
        code, (found,) = said(capsys, *words)
        assert code == 2
        assert f"{tmp_path}/kernelwright.toml:1:" in found["error"]


def test_tasks_list(capsys):
    code, rows = said(capsys, "tasks", "list")
    assert code == 0
    assert {"softmax", "matmul", "attention"} <= {row["name"] for row in rows}
    for row in rows:
        assert row["summary"]
        assert row["workloads"]["cpu"] >= 2
    assert said(capsys, "tasks", "list", "core")[1] == [r for r in rows if r["suite"] == "core"]
    code, (found,) = said(capsys, "tasks", "list", "cor")
    assert (code, found["hint"]) == (2, "did you mean 'core'?")


def test_tasks_show(capsys):
    _, (found,) = said(capsys, "tasks", "show", "softmax")
    assert found["task"]["inputs"][0]["shape"] == ["M", "N"]
    assert main(["tasks", "show", "softmax", "--contract", "cpp"]) == 0
    out = capsys.readouterr().out
    assert 'extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N);' in out
    assert "workload" not in out
    code, (found,) = said(capsys, "tasks", "show", "softmax", "--contract", "fortran")
    assert (code, found["error"]) == (2, "unknown language 'fortran'")
    assert found["hint"] == "known: cpp, cuda, torch"
    assert main(["tasks", "show", "softmax"]) == 0
    out = capsys.readouterr().out
    assert "cpu-1024x4096" in out
    assert "at most 4 times that of an honest float32 sum" in out


def test_types_are_explained_in_the_language_of_the_prototype(capsys):
    assert main(["tasks", "show", "softmax", "--contract", "cpp"]) == 0
    assert "// float32 is float" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("given", "out", "words"),
    [
        ("float64", "float64", "error at most 4 times that of an honest float64 sum"),
        ("float32", "float32", "error at most 4 times that of an honest float32 sum"),
        ("float16", "float16", "error at most 4 times that of an honest float32 sum"),
        ("int32", "int32", "integers must be equal"),
    ],
)
def test_how_exact_follows_the_types(capsys, tmp_path, given, out, words):
    samples.write_task(tmp_path / "mine", "return 2 * x")
    text = (tmp_path / "mine" / "task.toml").read_text()
    first, _, second = text.partition("[[outputs]]")
    text = first.replace("float32", given) + "[[outputs]]" + second.replace("float32", out)
    (tmp_path / "mine" / "task.toml").write_text(text)
    assert main(["tasks", "show", "mine"]) == 0
    assert words in capsys.readouterr().out.splitlines()


def test_how_exact_is_said_for_each_device_where_that_differs(capsys, tmp_path):
    samples.write_task(tmp_path / "mine", "return 2 * x")
    text = (tmp_path / "mine" / "task.toml").read_text().replace('dtype = "float32"', 'dtype = "T"')
    text = text.replace("[axes]", '[types]\nT = "float32"\n[axes]')
    (tmp_path / "mine" / "task.toml").write_text(
        text + '[[workloads]]\nname = "big"\ndevice = "gpu"\nrole = "main"\naxes = { N = 64 }\n'
        'types = { T = "float64" }\n'
    )
    assert main(["tasks", "show", "mine"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert "on cpu: error at most 4 times that of an honest float32 sum" in said
    assert "on gpu: error at most 4 times that of an honest float64 sum" in said


def test_the_mend_for_torch_suits_a_checkout_and_an_installed_package(only, capsys, monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    mend = findings(capsys)[2]["torch"]["mend"]
    assert "scripts/setup --torch in a checkout" in mend
    assert "pip install 'kernelwright[torch]'" in mend
