"""What a session must see before it judges: a twin made slower, a kernel that does nothing."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import pytest

from kernelwright.errors import ControlError, UserError
from kernelwright.evaluation.clocks import Clocks
from kernelwright.evaluation.session_controls import (
    Nothing,
    against_itself,
    asking_us,
    no_op,
    planted_slower,
    prove,
    verdict_on_planted,
)
from kernelwright.evaluation.twins import twins
from kernelwright.records.outcome import Decision
from kernelwright.timing.statistics import Interval, Noise

QUIET = Noise(half_width=0.002, pairs=20, between=0.003)
NOISY = Noise(half_width=0.002, pairs=20, between=0.07)
CASE = object()


class Host:
    """A bench whose n-th place makes twins ``factors[n]`` times as slow; the last one repeats."""

    def __init__(self, factors=(1.0,), *, deaf=False, noop_us=1.0, asking_us=80.0):
        self.factors, self.deaf, self.noop_us, self.asking_us = factors, deaf, noop_us, asking_us
        self.answers = self.rivals = self
        self.places, self.ended = 0, 0

    def seed(self, *parts):
        return hash(parts)

    def ring(self, case, owner="candidate"):
        return object()

    def move(self, case):
        self.places += 1

    def twin(self, name, ring):
        return SimpleNamespace(close=self._end, bind=lambda ring, deadline: None)

    def start(self, program):
        nothing = lambda *arguments: None  # noqa: E731
        return SimpleNamespace(load=nothing, bind=nothing, close=self._end, noop=True)

    def rival_side(self, name, case, secret):
        return SimpleNamespace(secret=secret, ready=lambda: None, block=lambda: 10.0)

    def side(self, worker, ring, secret):
        made = SimpleNamespace(ready=lambda: None, handicap=0.0, clocks=Clocks())
        factor = self.factors[min(self.places, len(self.factors) - 1)]

        def twice_as():
            return 10.0 * factor * (1 + (0.0 if self.deaf else made.handicap))

        def nothing():
            made.clocks.claimed.append(self.noop_us)
            made.clocks.excess.append(self.asking_us)

        made.block = nothing if hasattr(worker, "noop") else twice_as
        return made

    def _end(self):
        self.ended += 1


def proved(host, noise=QUIET):
    with twins(host, "loop", CASE) as more:
        return {one.name: one for one in prove(more, noise, Nothing(Path("noop.so"), CASE))}


def planted(host, noise=QUIET):
    with twins(host, "loop", CASE) as more:
        return planted_slower(more, noise)


def test_on_a_quiet_machine_all_hold():
    host = Host()
    found = proved(host)
    assert {name: one.verdict for name, one in found.items()} == {
        "against itself": "held",
        "planted slower": "held",
        "no-op": "held",
    }
    assert found["planted slower"].value == pytest.approx(1 / 1.1)
    assert "slower" in found["planted slower"].said
    assert host.ended == 2  # the twin, and the one that does nothing


def test_a_judge_that_does_not_see_what_was_planted_gives_no_verdict():
    with pytest.raises(
        ControlError, match=r"'planted slower' failed twice .*decided same"
    ) as found:
        proved(Host(deaf=True))
    assert isinstance(found.value, UserError)
    assert found.value.exit_code == 2
    assert "try again" in found.value.hint
    assert "runs resume" in found.value.hint


def test_a_control_that_fails_is_repeated_once_elsewhere():
    host = Host([0.91, 1.0])
    assert planted(host).verdict == "failed"
    host = Host([0.91, 1.0])
    assert proved(host)["planted slower"].verdict == "held"
    with pytest.raises(ControlError):
        proved(Host([0.91, 0.91]))


def test_noise_that_hides_a_tenth_is_said_and_is_no_failure():
    found = planted(Host([0.97]), NOISY)
    assert found.verdict == "too noisy"
    assert found.said.startswith("too noisy to tell 10%: ")
    assert found.limit == pytest.approx(math.expm1(0.07))


def test_noise_excuses_nobody_who_takes_the_planted_for_faster():
    wide = Interval(0.2, 0.1, 0.3)
    assert verdict_on_planted(wide, Decision.FASTER, 0.07) == "failed"
    assert verdict_on_planted(wide, Decision.UNDECIDED, 0.07) == "too noisy"
    assert verdict_on_planted(Interval(-0.1, -0.2, 0.0), Decision.UNDECIDED, 0.01) == "too noisy"
    assert verdict_on_planted(Interval(0.0, -0.01, 0.01), Decision.SAME, 0.01) == "failed"


def test_a_noop_costs_less_than_asking_for_it():
    nothing = Nothing(Path("noop.so"), CASE)
    assert no_op(Host(), nothing).verdict == "held"
    found = no_op(Host(noop_us=90.0), nothing)
    assert (found.verdict, found.value, found.limit) == ("failed", 90.0, 80.0)
    with pytest.raises(ControlError, match="'no-op' failed twice"):
        proved(Host(noop_us=90.0))


def test_a_margin_too_wide_at_the_last_look_is_said():
    assert against_itself(QUIET).verdict == "held"
    wavering = Noise(half_width=0.2, pairs=20, between=0.0)
    assert against_itself(wavering).verdict == "too noisy"


def test_what_asking_takes_at_present_is_that_of_a_kernel_that_does_nothing():
    host = Host(asking_us=640.0)
    assert asking_us(host, Nothing(Path("noop.so"), CASE)) == 640.0
    assert host.ended == 1
    assert asking_us(host, None) == 0.0
