"""Precedence, sources, and what a slip in a file or variable is told."""

from pathlib import Path

import pytest

from kernelwright import settings
from kernelwright.errors import UsageError
from kernelwright.settings import Settings


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def source(name, given=None):
    return next(one.source for one in settings.explain(given) if one.name == name)


def test_defaults_say_so():
    assert {one.source for one in settings.explain()} == {"default"}
    assert Settings.load().effort == "normal"


def test_argument_over_environment_over_file_over_default(tmp_path, monkeypatch):
    (tmp_path / "kernelwright.toml").write_text("seed = 1\n\nthreads = 3\n")
    assert Settings.load().seed == 1
    assert source("seed") == f"{tmp_path}/kernelwright.toml:1"
    assert source("threads").endswith(":3")
    monkeypatch.setenv("KERNELWRIGHT_SEED", "2")
    assert Settings.load().seed == 2
    assert source("seed") == "environment KERNELWRIGHT_SEED"
    assert Settings.load({"seed": 3}).seed == 3
    assert source("seed", {"seed": 3}) == "argument"


def test_none_is_not_an_argument(monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_SEED", "2")
    assert Settings.load({"seed": None}).seed == 2
    assert source("seed", {"seed": None}) == "environment KERNELWRIGHT_SEED"


def test_nearest_file_upwards(tmp_path, monkeypatch):
    (tmp_path / "kernelwright.toml").write_text("seed = 1\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert Settings.load().seed == 1
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.kernelwright]\nseed = 5\n")
    assert Settings.load().seed == 5
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\nseed = 5\n")
    assert Settings.load().seed == 1


def test_pyproject_line_is_that_of_our_table(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        "[tool.other]\nseed = 9\n[tool.kernelwright]\nthreads = 1\nseed = 5\n"
    )
    assert source("seed") == f"{tmp_path}/pyproject.toml:5"


def test_own_file_wins_beside_pyproject(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.kernelwright]\nseed = 5\n")
    (tmp_path / "kernelwright.toml").write_text("seed = 6\n")
    assert Settings.load().seed == 6


def test_words_from_every_source(tmp_path, monkeypatch):
    (tmp_path / "kernelwright.toml").write_text('proposer = ["experts"]\n')
    assert Settings.load().proposer == ("experts",)
    monkeypatch.setenv("KERNELWRIGHT_PROPOSER", "tune, experts")
    assert Settings.load().proposer == ("tune", "experts")
    assert Settings.load({"proposer": ("a",)}).proposer == ("a",)


def test_paths_in_a_file_are_relative_to_it(tmp_path, monkeypatch):
    (tmp_path / "kernelwright.toml").write_text('store = "runs.db"\ncache = "built"\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    assert Settings.load().store == str(tmp_path / "runs.db")
    assert Settings.load().cache == tmp_path / "built"
    (tmp_path / "kernelwright.toml").write_text('store = "postgresql://host/db"\n')
    assert Settings.load().store == "postgresql://host/db"


def test_empty_variable_is_not_set(monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_SEED", "")
    assert source("seed") == "default"
    assert Settings.load().seed == 0


def problem_of(**given):
    with pytest.raises(UsageError) as caught:
        Settings.load(given)
    return caught.value


def test_broken_file_names_line_and_column(tmp_path):
    (tmp_path / "kernelwright.toml").write_text("seed = 1\nthreads = = 2\n")
    problem = problem_of()
    assert problem.message.startswith(f"{tmp_path}/kernelwright.toml:2:")
    assert "(at line" not in problem.message
    assert problem.exit_code == 2


def test_wrong_value_in_file_names_its_line(tmp_path):
    (tmp_path / "kernelwright.toml").write_text('seed = 1\nminutes = "three"\n')
    assert problem_of().message.startswith(f"{tmp_path}/kernelwright.toml:2: minutes = 'three'")


def test_wrong_value_in_environment_names_the_variable(monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_EFFORT", "hard")
    message = problem_of().message
    assert message.startswith("environment KERNELWRIGHT_EFFORT: effort = 'hard'")
    assert "'quick', 'normal' or 'thorough'" in message


def test_unknown_setting_suggests_the_nearest(tmp_path):
    (tmp_path / "kernelwright.toml").write_text("thread = 1\n")
    problem = problem_of()
    assert "kernelwright.toml:1: unknown setting 'thread'" in problem.message
    assert problem.hint == "did you mean 'threads'?"


def test_a_table_that_is_no_table(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool]\nkernelwright = 3\n")
    assert "not a table" in problem_of().message


def test_slips_in_the_environment(monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_STROE", "x")
    monkeypatch.setenv("KERNELWRIGHT_DEBUG", "1")
    assert settings.unknown_variables() == ["KERNELWRIGHT_STROE"]


@pytest.mark.parametrize(
    ("given", "minutes"),
    [
        ({"effort": "quick"}, 0.75),
        ({}, 3.0),
        ({"effort": "thorough"}, 15.0),
        ({"effort": "quick", "minutes": 9}, 9.0),
        ({"effort": "quick", "evaluations": 10}, None),
        ({"minutes": 1, "evaluations": 10}, 1.0),
    ],
)
def test_budget_by_effort(given, minutes):
    assert Settings.load(given).budget_minutes() == minutes


def test_threads_zero_means_every_core(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {1, 4, 5})
    assert Settings.load().cores == 3
    assert Settings.load({"threads": 2}).cores == 2


def test_cache_follows_xdg(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    assert Settings.load().cache == Path(tmp_path / "c" / "kernelwright")


def test_an_architecture_is_one_or_none(monkeypatch):
    assert Settings.load().cuda_arch == ""
    assert Settings.load({"cuda_arch": "sm_90a"}).cuda_arch == "sm_90a"
    monkeypatch.setenv("KERNELWRIGHT_CUDA_ARCH", "90a; id")
    with pytest.raises(UsageError, match="must be an architecture, as sm_90a"):
        Settings.load()
