"""What is asked for in a way that nobody can have meant, and files that are no files."""

import json
import os

import pytest

from kernelwright.cli.main import main


def refused(capsys, line, code=2):
    """The message and the hint of a request that is refused with that code."""
    assert main([*line.split(), "--json"]) == code
    told = json.loads(capsys.readouterr().out)
    return told["error"], told["hint"]


@pytest.mark.parametrize(
    "words",
    [
        "--target inf", "--target nan", "--target 1e308", "--target 1", "--minutes inf",
        "--minutes nan", "--minutes 1e308", "--minutes -0", "--evaluations 0",
        "--evaluations 99999999999999999999", "--threads -1", "--threads 99999999999999999999",
        "--seed -1", "--seed 99999999999999999999",
    ],
)  # fmt: skip
def test_numbers_that_nobody_means_are_usage_errors(folder, capsys, words):
    message, _ = refused(capsys, f"optimize twice --dry-run --start good.cpp {words}")
    assert words.split()[0].removeprefix("--") in message
    assert "fault of kernelwright" not in message


@pytest.mark.parametrize("verb", ["runs list", "runs show", "runs resume", "runs export", "confirm",
                                  "runs replay", "ship"])  # fmt: skip
def test_an_emptied_store_is_refused_by_all_and_stays_empty(folder, capsys, verb):
    (folder / "runs.db").touch()
    run = "" if verb == "runs list" else " latest"
    message, hint = refused(capsys, verb + run)
    assert "is an empty file" in message
    assert "bring it back from a copy" in hint
    assert (folder / "runs.db").stat().st_size == 0


@pytest.mark.parametrize(
    "line",
    [
        "evaluate twice pipe.cpp --rung draft",
        "optimize twice --dry-run --start pipe.cpp",
        "tasks show pipe.py",
        "tasks check pipe.py:f",
        "runs list --store pipe.db",
    ],
)
def test_a_pipe_is_no_file(folder, capsys, line):
    for ending in (".cpp", ".py", ".db"):
        os.mkfifo(folder / f"pipe{ending}")
    message, _ = refused(capsys, line)
    assert "not a regular file" in message


def test_a_dry_run_sees_that_the_store_cannot_be_written(folder, capsys):
    line = "optimize twice --dry-run --start good.cpp --store"
    message, _ = refused(capsys, f"{line} /proc/x.db")
    assert "/proc" in message
    assert main([*line.split(), "deep/down/runs.db"]) == 0
    assert not (folder / "deep").exists()
