"""What a killed worker leaves: waited for, then said."""

from __future__ import annotations

import pytest

from kernelwright.evaluation.aftermath import KILLED, MOST_SECONDS, PAUSE_S, Aftermath
from kernelwright.records.outcome import Outcome


class Machine:
    """Cores that others take, look by look; the last number repeats."""

    def __init__(self, *lost):
        self.lost, self.looks, self.slept = list(lost), 0, 0.0
        self.aftermath = Aftermath(self.probe, self.sleep)

    def probe(self):
        self.looks += 1
        return self.lost.pop(0) if len(self.lost) > 1 else self.lost[0]

    def sleep(self, seconds):
        self.slept += seconds


def test_whoever_ends_by_itself_is_not_looked_after():
    machine = Machine(0.0, 2.0)
    for outcome in set(Outcome) - KILLED:
        machine.aftermath.ended(outcome)
    assert machine.aftermath.labels() == {}
    assert machine.looks == 1


@pytest.mark.parametrize("outcome", sorted(KILLED))
def test_a_clean_machine_costs_one_look(outcome):
    machine = Machine(0.1, 0.2)
    machine.aftermath.ended(outcome)
    assert (machine.looks, machine.slept) == (2, 0.0)
    assert machine.aftermath.labels() == {}


def test_leftovers_that_go_are_waited_for():
    machine = Machine(0.0, 1.0, 1.0, 0.0)
    machine.aftermath.ended(Outcome.TIMEOUT)
    assert machine.slept == pytest.approx(2 * PAUSE_S)
    assert machine.aftermath.labels() == {}


def test_leftovers_that_stay_are_said_until_they_go():
    machine = Machine(0.25, 1.5)
    machine.aftermath.ended(Outcome.TIMEOUT)
    assert machine.slept == pytest.approx(MOST_SECONDS)
    assert machine.aftermath.labels() == {"leftovers_on_cores": 1.25}
    machine.lost = [0.3]
    assert machine.aftermath.labels() == {}
    looks = machine.looks
    assert machine.aftermath.labels() == {}
    assert machine.looks == looks


def test_a_load_that_was_there_before_is_nobodys_leftover():
    machine = Machine(1.6, 1.7)
    machine.aftermath.ended(Outcome.CRASHED)
    assert machine.slept == 0.0
