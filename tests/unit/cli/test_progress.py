"""Bars for a terminal, lines for a pipe, nothing for who wants quiet."""

import io
import json
import time

import pytest

from kernelwright.cli import progress
from kernelwright.cli.lines import Lines, lines
from kernelwright.cli.main import main
from kernelwright.records.run import Budget, Run, Spent
from kernelwright.records.rung import Rung
from kernelwright.search.observer import Progress
from tests import samples

WORDS = "optimize twice --start good.cpp --proposer tune --evaluations 20"


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Nobody(io.StringIO):
    """Whoever read this has gone."""

    def write(self, text):
        raise BrokenPipeError


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


LEADS = (
    "leading by its lower end: plain loop THREADS=2 2.00x [1.96, 2.04] against numpy on cpu-4096"
)


def state(leader=None, wall_s=30, evaluations=5, budget=None):
    spent = Spent(wall_s=wall_s, evaluations=evaluations)
    return Progress(spent, budget or Budget(minutes=1), 1, 4, leader, samples.candidate())


def told(observer):
    """What a run of one candidate tells."""
    who = samples.candidate()
    look = samples.evaluation(who, Rung.FULL)
    run = Run(id="r-1", spec=samples.spec(), created="2026-01-01T00:00:00+00:00")
    observer.opening(samples.task())
    observer.session(run, samples.session(), state(wall_s=2, evaluations=0))
    observer.dispatched(who, Rung.DRAFT)
    observer.drafted(who, look)
    observer.promoted(who, Rung.FULL)
    observer.evaluated(who, look, state())
    observer.champion(who, look, 2.0)
    observer.promoted(who, Rung.CONFIRM)
    observer.evaluated(who, samples.evaluation(who), state(look))
    observer.stopped(samples.summary())


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_quiet_is_quiet(stream):
    with progress.watching(stream, debug=False, quiet=True) as observer:
        assert observer is None
    assert stream.getvalue() == ""


def test_a_pipe_gets_lines():
    stream = io.StringIO()
    with progress.watching(stream, debug=False) as observer:
        told(observer)
    shown = [line.partition(" s  ")[2] for line in stream.getvalue().splitlines()]
    assert shown == [
        "twice: timing the baselines",
        "run r-1: to beat: numpy, loop; the strongest is numpy",
        "without eager: torch is not installed",
        f"{LEADS}, to be confirmed",
        "confirming plain loop THREADS=2",
        "plain loop THREADS=2, in fresh processes: 2.00x [1.96, 2.04] against numpy on cpu-4096",
    ]


def test_a_confirm_that_fails_is_said():
    stream, who = io.StringIO(), samples.candidate()
    Lines(stream).evaluated(who, samples.rejected(who, Rung.CONFIRM), state())
    assert stream.getvalue().endswith("in fresh processes: wrong_values\n")


@pytest.mark.parametrize(
    ("budget", "left"),
    [
        (Budget(minutes=1), "; 23 s left"),
        (Budget(evaluations=12), "; 7 looks left"),
        (Budget(minutes=1, evaluations=12), "; 23 s and 7 looks left"),
        (Budget(minutes=0.1), "; 0 s left"),
        (Budget(), ""),
    ],
)
def test_a_silence_is_broken_by_where_things_stand(budget, left):
    stream, clock, who = io.StringIO(), Clock(), samples.candidate()
    observer = Lines(stream, clock)
    look = samples.evaluation(who, Rung.FULL)
    observer.evaluated(who, look, state(look, budget=budget))
    observer.dispatched(who, Rung.DRAFT)
    observer.dispatched(who, Rung.SMOKE)
    clock.now = 7.0
    assert observer.silence_s() == 7.0
    observer.remind()
    assert observer.silence_s() == 0.0
    assert stream.getvalue() == f"    7 s  5 candidates, 5 looks, {LEADS}{left}\n"


def test_silence_is_broken_while_nothing_is_told():
    stream = io.StringIO()
    deadline = time.monotonic() + 30
    with lines(stream, every_s=0.01):
        while stream.getvalue().count("at work") < 2 and time.monotonic() < deadline:
            time.sleep(0.005)
    said = stream.getvalue()
    assert said.count("at work") >= 2
    time.sleep(0.05)
    assert stream.getvalue() == said


def test_a_reader_who_leaves_does_not_end_the_run():
    told(Lines(Nobody()))


def test_the_command_writes_lines_and_its_json_stays_alone(folder, capsys):
    assert main([*WORDS.split(), "--json"]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert json.loads(out)["status"] == "improved"
    assert "twice: timing the baselines" in err
    assert "confirming plain loop" in err
    assert main([*WORDS.split(), "--json", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["status"] == "improved"
    assert err == ""


def test_a_terminal_sees_rivals_and_leaders(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with progress.watching(stream, debug=False) as observer:
        told(observer)
    shown = stream.getvalue()
    assert "run r-1: to beat: numpy, loop; the strongest is numpy" in shown
    assert "without eager: torch is not installed" in shown
    assert f"{LEADS}, to be confirmed" in " ".join(shown.split())
    assert "5 looks at 4 candidates; full plain loop THREADS=2: passed" in shown


@pytest.mark.parametrize(
    ("spent", "budget", "share"),
    [
        (Spent(wall_s=30), Budget(minutes=1), 0.5),
        (Spent(wall_s=30, evaluations=9), Budget(minutes=1, evaluations=10), 0.9),
        (Spent(wall_s=300), Budget(minutes=1), 1.0),
        (Spent(wall_s=30), Budget(), 0.0),
    ],
)
def test_share_of_the_tightest_budget(spent, budget, share):
    assert progress.share(spent, budget) == share
