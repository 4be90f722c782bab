"""Bars for a terminal, silence for a pipe."""

import io

import pytest

from kernelwright.cli import progress
from kernelwright.records.run import Budget, Run, Spent
from kernelwright.records.rung import Rung
from kernelwright.search.observer import Progress
from tests import samples


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_pipe_gets_nothing():
    stream = io.StringIO()
    with progress.watching(stream, debug=False) as observer:
        assert observer is None
    assert stream.getvalue() == ""


def test_a_terminal_sees_rivals_and_leaders(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream, who = Terminal(), samples.candidate()
    run = Run(id="r-1", spec=samples.spec(), created="2026-01-01T00:00:00+00:00")
    with progress.watching(stream, debug=False) as observer:
        observer.session(run, samples.session())
        found = samples.evaluation(who, Rung.FULL)
        spent = Spent(wall_s=30, evaluations=5)
        state = Progress(spent, Budget(minutes=1), 1, 4, None)
        observer.dispatched(who, Rung.DRAFT)
        observer.drafted(who, found)
        observer.promoted(who, Rung.FULL)
        observer.evaluated(who, found, state)
        observer.champion(who, found, 2.0)
        observer.stopped(samples.summary())
    shown = stream.getvalue()
    assert "run r-1: to beat: numpy, loop; the strongest is numpy" in shown
    assert "without eager: torch is not installed" in shown
    assert "plain loop THREADS=2: 2.00x [1.96, 2.04] against numpy on cpu-4096" in shown
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
