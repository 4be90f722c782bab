"""Emptying the caches: from every core, and never for ever."""

import os

import pytest

from kernelwright.errors import JudgeError
from kernelwright.evaluation import flush
from kernelwright.evaluation.flush import Flush


def test_every_core_writes_its_share_each_time():
    empty = Flush(1 << 20, 2)
    for _ in range(3):
        empty()
    assert {int(part.min()) for part in empty._parts} == {3}
    assert {int(part.max()) for part in empty._parts} == {3}


def test_a_core_that_cannot_be_chosen_is_no_reason_to_wait(monkeypatch):
    def refuse(*_):
        raise OSError(22, "no such core")

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    Flush(1 << 16, 2)()


def test_a_core_that_never_answers_is_a_fault_that_is_told(monkeypatch):
    monkeypatch.setattr(flush, "PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(Flush, "_serve", lambda *_: None)
    with pytest.raises(JudgeError, match="could not be emptied") as caught:
        Flush(1 << 16, 2)()
    assert caught.value.hint
