"""The scripts people and CI start: they parse, and what they do not know they say."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from kernelwright import extras

ROOT = Path(__file__).parents[2]
SHELL = ["scripts/setup", "scripts/check", "scripts/test", "scripts/bench", ".ci/run"]


def run(*command, cwd=ROOT, **variables):
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("name", SHELL)
def test_a_script_parses_and_can_be_started(name):
    assert os.access(ROOT / name, os.X_OK)
    assert run("bash", "-n", name).returncode == 0


@pytest.mark.parametrize("name", ["scripts/setup", "scripts/check"])
def test_an_unknown_argument_is_refused_with_a_hint(name):
    done = run(name, "--nonsense")
    assert done.returncode == 2
    assert "--nonsense" in done.stderr
    assert "hint: " in done.stderr


@pytest.mark.parametrize(("package", "extra"), extras.EXTRAS.items())
def test_what_a_hint_says_can_be_typed(package, extra):
    """A hint about a missing package names an option of scripts/setup and an extra of ours."""
    hint = extras.how_to_add(package)
    assert f"scripts/setup --{extra} in a checkout" in hint
    assert f"pip install 'kernelwright[{extra}]'" in hint
    assert f"scripts/setup --{extra} " in run("scripts/setup", "--help").stdout
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert any(one.startswith(package) for one in offered["optional-dependencies"][extra])


def test_a_package_of_somebody_else_is_installed_by_its_name():
    assert extras.how_to_add("numba") == "pip install numba"


@pytest.fixture
def elsewhere(tmp_path):
    (tmp_path / "scripts").mkdir()
    for name in ("bench", "setup"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "judge.py").write_text('"""How fast a candidate is judged."""\n')
    return tmp_path


def test_bench_lists_each_benchmark_with_its_first_line(elsewhere):
    done = run("scripts/bench", "list", cwd=elsewhere)
    assert done.stdout.split(maxsplit=1) == ["judge", "How fast a candidate is judged.\n"]


@pytest.mark.parametrize("name", ["nothing", "../scripts/ratchet"])
def test_bench_names_what_there_is(elsewhere, name):
    done = run("scripts/bench", name, cwd=elsewhere)
    assert done.returncode == 2
    assert f"error: no benchmark is called {name}" in done.stderr
    assert "hint: there are: judge" in done.stderr


def test_setup_says_which_python_it_needs(elsewhere):
    done = run("scripts/setup", cwd=elsewhere, PYTHON="/bin/false")
    assert done.returncode == 2
    assert "no Python 3.11, 3.12 or 3.13 found" in done.stderr
    assert not (elsewhere / ".venv").exists()


def test_setup_does_not_remove_an_environment_it_did_not_make(elsewhere):
    (elsewhere / ".venv").mkdir()
    (elsewhere / ".venv" / "precious").touch()
    done = run("scripts/setup", cwd=elsewhere)
    assert done.returncode == 2
    assert "hint: remove it" in done.stderr
    assert (elsewhere / ".venv" / "precious").exists()
