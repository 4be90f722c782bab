"""Many may build, or one may measure; who measures goes first."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest

from kernelwright.executors.gate import Gate

SOON, NOW = 10.0, 0.05
"""Seconds in which something must happen, and in which something must not."""


class Visitor:
    """A thread that takes a turn, and stays until it is told to leave."""

    def __init__(self, turn):
        self.inside, self._leave = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._visit, args=(turn,), daemon=True)
        self._thread.start()

    def _visit(self, turn):
        with turn():
            self.inside.set()
            assert self._leave.wait(SOON)

    def leave(self):
        self._leave.set()
        self._thread.join(SOON)
        assert not self._thread.is_alive()


@contextmanager
def visiting(turn):
    """Somebody is inside for as long as the body runs."""
    one = Visitor(turn)
    assert one.inside.wait(SOON)
    try:
        yield one
    finally:
        one.leave()


def test_many_build_at_once():
    gate = Gate()
    with visiting(gate.build), visiting(gate.build), visiting(gate.build):
        pass


@pytest.mark.parametrize("first", ["build", "measure"])
@pytest.mark.parametrize("second", ["build", "measure"])
def test_who_measures_is_alone(first, second):
    gate = Gate()
    with visiting(getattr(gate, first)):
        late = Visitor(getattr(gate, second))
        both = (first, second) == ("build", "build")
        assert late.inside.wait(SOON if both else NOW) is both
    assert late.inside.wait(SOON)
    late.leave()


def test_who_waits_to_measure_goes_before_those_who_come_to_build():
    gate = Gate()
    with visiting(gate.build):
        measuring = Visitor(gate.measure)
        assert not measuring.inside.wait(NOW)
        building = Visitor(gate.build)
        # It could build beside the first, but then whoever measures might wait for ever.
        assert not building.inside.wait(NOW)
    assert measuring.inside.wait(SOON)
    assert not building.inside.wait(NOW)
    measuring.leave()
    assert building.inside.wait(SOON)
    building.leave()


@pytest.mark.parametrize("turn", ["build", "measure"])
def test_a_turn_that_fails_is_over(turn):
    gate = Gate()
    with pytest.raises(ValueError, match="broken"), getattr(gate, turn)():
        raise ValueError("broken")
    with visiting(gate.measure):
        pass
