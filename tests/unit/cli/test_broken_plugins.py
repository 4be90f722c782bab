"""A package of somebody else's that does not work: what was not asked for is left out and named."""

import json
import logging
import sys

import pytest

from kernelwright import plugins
from kernelwright.candidates.notation import language_of, notation
from kernelwright.cli.main import main
from kernelwright.errors import PrerequisiteError
from kernelwright.tasks.load import load_task
from kernelwright.verbs import doctor, machine, optimize

ALL = ("languages", "proposers", "parents", "executors", "exporters", "formats")
MODULES = {
    "raises": "raise RuntimeError('boom at import')\n",
    "leaves": "import sys\nsys.exit(3)\n",
    "typo": "def part(:\n",
    "lacks": "import no_such_package_anywhere\n",
    "old": "import kernelwright.no_such_module\n",
    "empty": "",
    "made": "class part:\n    def __init__(self, *a, **k):\n        raise ValueError('boom')\n",
}


def forget():
    plugins._foreign.cache_clear()
    plugins._warn.cache_clear()


@pytest.fixture(params=sorted(MODULES))
def broken(request, folder, monkeypatch):
    """A package that registers one part of each kind, all of them broken in the same way."""
    module = f"broken_{request.param}"
    (folder / f"{module}.py").write_text(MODULES[request.param])
    about = folder / "vendor-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: vendor\nVersion: 1.0\n")
    lines = [f"[kernelwright.{kind}]\nbrk = {module}:part\n" for kind in ALL]
    (about / "entry_points.txt").write_text("".join(lines))
    monkeypatch.syspath_prepend(str(folder))
    forget()
    yield request.param
    forget()
    sys.modules.pop(module, None)


def names_it(text, kind):
    return all(word in text for word in ("'brk'", f"kernelwright.{kind}", "'vendor'"))


def test_what_was_not_asked_for_is_left_out_with_one_warning(broken, caplog, tmp_path):
    caplog.set_level(logging.WARNING)
    for _ in range(2):
        assert language_of(tmp_path / "u.cpp", "int x;") == "cpp"
        with pytest.raises(Exception, match="unknown task 'nothing'"):
            load_task("nothing", inspector=dict)
    for kind in ("languages", "formats"):
        (said,) = [one for one in caplog.messages if f"kernelwright.{kind})" in one]
        assert names_it(said, kind)


def test_a_built_in_task_does_not_ask_for_it(broken, caplog):
    assert load_task("softmax", inspector=dict).name == "softmax"
    assert caplog.messages == []


def test_who_does_not_ask_for_it_is_not_stopped(broken, capsys):
    assert main(["optimize", "twice", "--dry-run", "--start", "good.cpp", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["task"] == "twice"
    assert main(["evaluate", "twice", "good.cpp", "--rung", "draft"]) == 0


@pytest.mark.parametrize("kind", ALL)
def test_what_was_asked_for_is_named(broken, kind):
    with pytest.raises(PrerequisiteError) as caught:
        plugins.make(kind, "brk")
    assert names_it(caught.value.message, kind)
    assert "pip uninstall vendor" in caught.value.hint


def test_a_language_that_was_asked_for(broken):
    with pytest.raises(PrerequisiteError, match="'vendor'"):
        notation("brk")


@pytest.mark.parametrize("option", ["language", "proposer"])
def test_a_dry_run_tells_of_what_does_not_load(broken, option, capsys):
    code = main(["optimize", "softmax", "--dry-run", f"--{option}", "brk", "--json"])
    told = json.loads(capsys.readouterr().out)
    if broken == "made" and option == "proposer":  # a language is asked on what it runs
        assert (code, told[option]) == (0, ["brk"])
    else:
        assert code == 2
        assert "'vendor'" in told["error"]


@pytest.mark.parametrize("setting", ["PROPOSER", "PARENTS", "EXECUTOR"])
def test_a_run_that_asks_for_it_tells_of_it(broken, capsys, monkeypatch, setting):
    monkeypatch.setenv(f"KERNELWRIGHT_{setting}", "brk")
    assert main(["optimize", "twice", "--start", "good.cpp", "--evaluations", "4", "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert "of the package 'vendor' fails" in told["error"]
    assert "pip uninstall vendor" in told["hint"]


def test_doctor_lists_it_by_its_kind(broken, monkeypatch):
    monkeypatch.setattr(machine, "COMPILERS", ())
    answer = doctor.run(doctor.Request())
    found = {one.name: one for one in answer.findings if "'vendor'" in one.detail}
    named = {"brk", "format brk"}  # languages are listed by name, with those that work
    if broken != "made":
        named |= {"proposer brk", "parent brk", "executor brk", "exporter brk"}
    assert set(found) == named
    assert all(one.optional and "uninstall" in one.mend for one in found.values())


def test_a_list_of_entry_points_that_cannot_be_read(tmp_path, monkeypatch, caplog):
    about = tmp_path / "torn-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: torn\nVersion: 1.0\n")
    (about / "entry_points.txt").write_bytes(b"[kernelwright.formats]\n\xff\xfe = x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    forget()
    try:
        assert "native" in plugins.names("formats")
        assert any("cannot be read" in one for one in caplog.messages)
    finally:
        forget()


def test_a_plan_is_of_what_loads():
    plan = optimize.run(optimize.Request.of(task="softmax", dry_run=True, store="sqlite://"))
    assert plan.language == ("cpp",)
