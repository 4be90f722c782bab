"""The noise of a session: the strongest baseline against twins of itself."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.errors import TaskError
from kernelwright.evaluation.noise import MOST_PAIRS, TWINS, measure_noise
from kernelwright.evaluation.twins import twins
from kernelwright.records.outcome import Outcome

CASE = object()


class Twin:
    """A process that runs the baseline; how fast depends on where it happens to lie."""

    def __init__(self):
        self.binds, self.closed = 1, False

    def bind(self, ring, deadline):
        self.binds += 1

    def close(self):
        self.closed = True


class Host:
    """A bench on which the n-th comparison with a twin takes ``factors[n]`` times as long."""

    def __init__(self, factors, strongest="loop", fails_at=None):
        self.factors, self.strongest, self.fails_at = factors, strongest, fails_at
        self.answers = self.rivals = self
        self.twins, self.moves, self.secrets = [], 0, []

    def seed(self, *parts):
        return hash(parts)

    def ring(self, case, owner="candidate"):
        assert case is CASE
        return object()

    def twin(self, name, ring):
        assert name == self.strongest
        self.twins.append(Twin())
        return self.twins[-1]

    def move(self, case):
        self.moves += 1

    def rival_side(self, name, case, secret):
        return SimpleNamespace(secret=secret, ready=lambda: None, block=lambda: 10.0)

    def side(self, worker, ring, secret):
        self.secrets.append(secret)
        return SimpleNamespace(ready=lambda: None, block=lambda: self._block(self.moves))

    def _block(self, number):
        if number == self.fails_at:
            raise Rejected(Finding(Outcome.CRASHED, "it crashed"))
        return 10.0 * self.factors[number]


def measured(host):
    with twins(host, host.strongest, CASE) as more:
        return measure_noise(more)


def test_the_largest_difference_between_processes_counts():
    noise = measured(Host([1.0, 1.05, 0.9]))
    assert noise.between == pytest.approx(-math.log(0.9))
    assert noise.half_width == 0.0
    assert noise.pairs == MOST_PAIRS


def test_a_machine_without_noise_has_none():
    noise = measured(Host([1.0] * TWINS))
    assert (noise.between, noise.half_width) == (0.0, 0.0)


def test_within_a_process_the_middle_comparison_counts():
    chance = [iter([1.0 + spread * (-1) ** at for at in range(99)]) for spread in (0, 0.01, 0.3)]

    class Wavering(Host):
        def _block(self, number):
            return 10.0 * next(chance[number])

    noise = measured(Wavering([]))
    assert 0.005 < noise.half_width < 0.02


def test_every_twin_has_memory_and_contents_of_its_own():
    host = Host([1.0] * TWINS)
    measured(host)
    assert host.moves == TWINS
    assert len(set(host.secrets)) == TWINS


def test_a_plain_loop_gets_a_process_for_each_comparison():
    host = Host([1.0] * TWINS, "loop")
    measured(host)
    assert [twin.binds for twin in host.twins] == [1] * TWINS
    assert all(twin.closed for twin in host.twins)


def test_one_that_imports_a_framework_moves_instead():
    host = Host([1.0] * TWINS, "eager")
    measured(host)
    assert [twin.binds for twin in host.twins] == [TWINS]
    assert host.twins[0].closed


@pytest.mark.parametrize("strongest", ["loop", "eager"])
def test_a_baseline_that_breaks_is_the_tasks_fault_and_leaves_nothing_running(strongest):
    host = Host([1.0] * TWINS, strongest, fails_at=1)
    with pytest.raises(TaskError, match="it crashed"):
        measured(host)
    assert all(twin.closed for twin in host.twins)
