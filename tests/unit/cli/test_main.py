"""Every ending has its exit code, its lines on standard error, and its JSON."""

import json
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from kernelwright import errors
from kernelwright.__main__ import main as first_step
from kernelwright.cli import main as cli
from kernelwright.verbs import base, table

SRC = Path(__file__).parents[3] / "src"


class Request(base.Request):
    what: Annotated[str, base.Positional()]
    files: tuple[Path, ...] = Field((), description="some files")
    words: tuple[str, ...] | None = Field(None, description="some words")
    level: Literal["low", "high"] = Field("low", description="how much")
    seed: int | None = Field(None, ge=0, description="a setting")
    dry_run: bool = Field(False, description="do nothing")
    as_: str = Field("file", description="form")


class Answer(base.Answer):
    value: str
    code: int = 0

    def exit_code(self):
        return self.code

    def text(self):
        return f"text of {self.value}"

    def notes(self):
        return ["hint: a note"]


@pytest.fixture
def probe(monkeypatch, tmp_path):
    """A verb of its own, whose run the test chooses; the requests it got."""
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("kernelwright.verbs.probe")
    module.__doc__ = "What the probe does.\n\nAnd more."
    module.Request, module.Answer, module.got = Request, Answer, []

    def run(request, *, observer=None):
        module.got.append(request)
        return Answer(value=request.what)

    module.run = run
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(table, "VERBS", (*table.VERBS, table.Verb("probe", "probe", "a probe")))
    return module


def failing(module, problem):
    def run(request, *, observer=None):
        raise problem

    module.run = run


def test_text_on_stdout_notes_on_stderr(probe, capsys):
    assert cli.main(["probe", "x"]) == 0
    out, err = capsys.readouterr()
    assert out == "text of x\n"
    assert err == "hint: a note\n"


def test_json_is_the_answer_alone(probe, capsys):
    assert cli.main(["probe", "x", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {"value": "x", "code": 0}
    assert out.count("\n") == 1
    assert err == ""


@pytest.mark.parametrize("code", [0, 3, 4, 130])
def test_exit_code_is_the_answers(probe, code, capsys):
    probe.run = lambda request, *, observer=None: Answer(value="", code=code)
    assert cli.main(["probe", "x"]) == code


def test_options_become_fields(probe, capsys):
    words = "probe x --files a.cpp --files b.cpp --words p,q --level high --seed 3 --dry-run --as k"
    assert cli.main(words.split()) == 0
    assert probe.got == [
        Request(
            what="x",
            files=(Path("a.cpp"), Path("b.cpp")),
            words=("p", "q"),
            level="high",
            seed=3,
            dry_run=True,
            as_="k",
        )
    ]


def test_what_is_not_given_is_none(probe, capsys):
    cli.main(["probe", "x"])
    assert probe.got == [Request(what="x")]


def test_help_shows_defaults_of_fields_and_settings(probe, capsys):
    assert cli.main(["probe", "--help"]) == 0
    out = capsys.readouterr().out
    assert "What the probe does." in out
    assert "how much [default: low]" in out
    assert "a setting [default: 0]" in out
    assert "WHAT" in out
    assert "--as " in out


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (errors.UsageError("it is wrong", hint="do that"), 2),
        (errors.PrerequisiteError("it is wrong", hint="do that"), 2),
        (errors.StoreError("it is wrong", hint="do that"), 2),
        (errors.JudgeError("it is wrong", hint="do that"), 1),
    ],
)
def test_our_errors(probe, problem, code, capsys):
    failing(probe, problem)
    assert cli.main(["probe", "x"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "error: it is wrong\nhint: do that\n"
    assert cli.main(["probe", "x", "--json"]) == code
    out, err = capsys.readouterr()
    assert json.loads(out) == {"error": "it is wrong", "hint": "do that"}
    assert err == "error: it is wrong\nhint: do that\n"


def test_a_fault_of_ours_has_no_traceback_unless_asked(probe, capsys, monkeypatch):
    failing(probe, ZeroDivisionError("by zero"))
    assert cli.main(["probe", "x"]) == 1
    assert capsys.readouterr().err.startswith("error: ZeroDivisionError: by zero\nhint: ")
    with pytest.raises(ZeroDivisionError):
        cli.main(["probe", "x", "--debug"])
    monkeypatch.setenv("KERNELWRIGHT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        cli.main(["probe", "x"])
    monkeypatch.setenv("KERNELWRIGHT_DEBUG", "0")
    assert cli.main(["probe", "x"]) == 1


def test_a_users_error_never_has_a_traceback(probe, capsys):
    failing(probe, errors.TaskError("bad task"))
    assert cli.main(["probe", "x", "--debug"]) == 2
    assert capsys.readouterr().err == "error: bad task\n"


def test_ctrl_c(probe, capsys):
    failing(probe, KeyboardInterrupt())
    assert cli.main(["probe", "x"]) == 130
    assert capsys.readouterr().err.strip().splitlines() == [
        "error: interrupted",
        "hint: nothing was begun that could be resumed, and nothing is lost: start it again",
    ]


def test_ctrl_c_in_a_run_says_how_to_go_on(probe, capsys):
    failing(probe, KeyboardInterrupt("kernelwright runs resume x goes on"))
    assert cli.main(["probe", "x"]) == 130
    assert "hint: kernelwright runs resume x goes on" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["optimise"], "unknown command 'optimise'", "did you mean 'optimize'?"),
        (["runs", "resum"], "unknown command 'runs resum'", "did you mean 'resume'?"),
        (["xyzzy"], "unknown command 'xyzzy'", "kernelwright --help lists what there is"),
        (["probe", "x", "--levle", "low"], "unknown option '--levle'", "did you mean '--level'?"),
        (["probe"], "missing argument 'WHAT'", "kernelwright probe --help shows how it is used"),
        (["probe", "x", "--seed", "-1"], "seed: must be at least 0, not -1", ""),
        (
            ["probe", "x", "--seed", "y"],
            "invalid value for '--seed': 'y' is not a whole number",
            "",
        ),
        (["probe", "x", "--level", "mid"], "invalid value for '--level'", "kernelwright probe"),
    ],
)
def test_slips(probe, capsys, words, message, hint):
    assert cli.main([*words, "--json"]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"error: {message}")
    said = json.loads(out)
    assert said["error"].startswith(message)
    assert said["hint"].startswith(hint)
    assert not said["error"].endswith(".")


def test_nothing_at_all_shows_the_help(capsys):
    assert cli.main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "optimize" in err
    assert "error:" not in err


def test_version(capsys):
    from kernelwright import __version__

    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"kernelwright {__version__}\n"


def test_colour_only_on_a_terminal_that_wants_it(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    cli.fail("wrong", "", as_json=False)
    assert capsys.readouterr().err == "error: wrong\n"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    cli.fail("wrong", "", as_json=False)
    assert "\x1b[" in capsys.readouterr().err


def python(code, **settings):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SRC)},
        timeout=60,
        **settings,
    )


def test_help_loads_no_verb_and_nothing_heavy():
    done = python(
        "import sys\n"
        "from kernelwright.cli.main import main\n"
        "assert main(['--help']) == 0\n"
        "heavy = {'pydantic', 'sqlalchemy', 'numpy', 'rich', 'kernelwright.verbs.optimize'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
    for verb in table.VERBS:
        assert verb.name.split()[0] in done.stdout


def test_importing_the_package_is_free():
    done = python(
        "import sys\nbefore = set(sys.modules)\nimport kernelwright\n"
        "print(sorted({name.split('.')[0] for name in set(sys.modules) - before}))\n"
    )
    assert done.stdout == "['kernelwright']\n", done.stderr


def test_a_reader_who_leaves_is_no_error(tmp_path):
    script = (
        f"{sys.executable} -m kernelwright config --json; code=$?; echo $code > code; exit $code"
    )
    done = subprocess.run(
        ["bash", "-c", f"({script}) | true"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SRC), "PYTHONUNBUFFERED": "1"},
        timeout=60,
    )
    assert done.stderr == ""
    assert (tmp_path / "code").read_text() == "0\n"


def test_ctrl_c_while_the_command_line_is_imported_is_answered(monkeypatch, capsys):
    class Interrupting:
        def find_spec(self, name, path=None, target=None):
            if name == "kernelwright.cli.main":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "kernelwright.cli.main")
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    assert first_step() == 130
    assert capsys.readouterr().err == "interrupted: nothing was begun\n"
