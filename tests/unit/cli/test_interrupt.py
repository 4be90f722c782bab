"""Ctrl-C outside of the search itself: what it says is how to go on, and only with what is left."""

import os
import socket
import sqlite3

import pytest

from kernelwright.store import leases
from kernelwright.store.store import Store
from kernelwright.store.writer import Writer
from kernelwright.verbs import setup
from tests.fakes import FakeExecutor
from tests.unit.cli.test_runs import said

WORDS = "optimize twice --start good.cpp --proposer tune --evaluations 20"


def interrupted(monkeypatch, owner, name):
    """Ctrl-C just after a method."""
    real = getattr(owner, name)

    def stopped(*arguments, **options):
        real(*arguments, **options)
        monkeypatch.setattr(owner, name, real)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, name, stopped)


def test_before_anything_is_stored_nothing_is_lost(folder, capsys, monkeypatch):
    interrupted(monkeypatch, FakeExecutor, "open")
    code, found = said(capsys, WORDS)
    assert code == 130
    assert found["error"] == "interrupted"
    assert found["hint"].endswith("nothing is lost: start it again")
    assert said(capsys, "runs show latest")[1]["error"].startswith("no runs yet")


@pytest.mark.parametrize("given_up", [True, False])
def test_once_it_is_stored_the_run_goes_on(folder, capsys, monkeypatch, given_up):
    if not given_up:  # a second Ctrl-C came before it was
        monkeypatch.setattr(Writer, "release", lambda self, run: None)
    interrupted(monkeypatch, Writer, "create_run")
    code, found = said(capsys, WORDS)
    assert code == 130
    pasted = found["hint"].removesuffix(" goes on where it stopped")
    code, found = said(capsys, pasted.removeprefix("kernelwright "))
    assert (code, found["status"]) == (0, "improved")


def test_a_run_that_is_resumed_goes_on(folder, capsys, monkeypatch):
    interrupted(monkeypatch, Writer, "create_run")
    said(capsys, WORDS)
    interrupted(monkeypatch, FakeExecutor, "open")
    code, found = said(capsys, "runs resume latest")
    assert code == 130
    assert found["hint"].endswith(" goes on where it stopped")


def test_a_run_that_has_ended_does_not_go_on(folder, capsys, monkeypatch):
    interrupted(monkeypatch, FakeExecutor, "close")
    code, found = said(capsys, WORDS)
    assert code == 130
    assert "resume " not in found["hint"]
    assert said(capsys, "runs show latest")[1]["status"] == "improved"


def test_the_run_of_another_process_is_not_named(folder, capsys):
    def begun_elsewhere():
        said(capsys, WORDS)
        other = f"{socket.gethostname()}:{os.getppid()}:{leases._started(os.getppid())}"
        with sqlite3.connect(folder / "runs.db") as connection:
            connection.execute("update runs set owner = ?", (other,))
        connection.close()
        assert [one.status for one in store.runs(present=True)] == ["running"]
        raise KeyboardInterrupt

    store = Store.open(str(folder / "runs.db"))
    with pytest.raises(KeyboardInterrupt) as ending, setup.resumable(store):
        begun_elsewhere()
    assert str(ending.value) == ""
    store.close()
