"""Why a process crashed, found by making the call again with one hindrance more each time."""

from __future__ import annotations

import signal
from types import SimpleNamespace

import numpy as np
import pytest

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.crashes import by_access, cause
from kernelwright.records.outcome import Outcome
from tests.samples import VECTOR as CASE

QUESTION = SimpleNamespace(case=CASE, contents={"x": np.zeros(64, np.float32)})
CRASH = Finding(Outcome.CRASHED, "it crashed with SIGSEGV", {"exit_code": -signal.SIGSEGV})
HANG = Finding(Outcome.TIMEOUT, "it took too long")
SCRIBBLE = Finding(Outcome.INPUT_MUTATED, "input x was changed")


class Suspect:
    """Whose calls end as they are told to, one after another; None: well."""

    def __init__(self, *endings):
        self.endings, self.hindrances, self.moves, self.open = list(endings), [], 0, 0

    def settle(self):
        return object()

    def move(self, worker):
        self.moves += 1

    def call(self, ring, contents, pattern):
        self.open += 1
        self.hindrances.append((ring.inputs.sealed, bool(ring.inputs.sets.arena.fences)))
        if (found := self.endings.pop(0)) is not None:
            raise Rejected(found)

    def discard(self, ring):
        self.open -= 1


@pytest.mark.parametrize(
    ("endings", "outcome"),
    [
        ((CRASH,), None),  # it crashes anyway
        ((HANG,), None),  # which is another matter
        ((SCRIBBLE,), Outcome.INPUT_MUTATED),
        ((None, CRASH), Outcome.INPUT_MUTATED),
        ((None, None, CRASH), Outcome.OUT_OF_BOUNDS),
        ((None, None, None), None),
    ],
)
def test_the_first_hindrance_at_which_it_crashes_is_the_cause(endings, outcome):
    suspect = Suspect(*endings)
    found = cause(suspect, QUESTION)
    assert (found and found.outcome) is outcome
    assert suspect.hindrances == [(False, False), (True, False), (True, True)][: len(endings)]
    assert (suspect.moves, suspect.open) == (1, 0)


def test_whoever_has_no_other_process_is_not_asked():
    suspect = Suspect()
    suspect.settle = None
    assert cause(suspect, QUESTION) is None
    assert suspect.moves == 0


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        ({"exit_code": -signal.SIGSEGV}, True),
        ({"exit_code": -signal.SIGBUS}, True),
        ({"exit_code": -signal.SIGABRT}, False),
        ({"exit_code": 1}, False),
        ({}, False),
    ],
)
def test_only_two_signals_are_about_memory(evidence, found):
    assert by_access(Finding(Outcome.CRASHED, "", evidence)) is found
