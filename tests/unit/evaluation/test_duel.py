"""Two candidates against each other: symmetric in everything, and each blamed for its own."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kernelwright.checks.answer import make_answer
from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.duel import Duel, Opponent, RivalsSide, noises
from kernelwright.evaluation.noise import TWINS
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.report import Ran
from kernelwright.evaluation.ring import Ring
from kernelwright.evaluation.ring_inputs import Inputs
from kernelwright.evaluation.sides import CandidateSide, RingSide
from kernelwright.records.outcome import Outcome
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.records.task import Tolerance
from tests.samples import VECTOR as CASE

BASE = {"x": np.random.default_rng(1).standard_normal(64).astype(np.float32)}


class Worker:
    """Claims as many microseconds a call as its entrant takes."""

    armed_for, locked = None, False
    beside_us = staticmethod(lambda ring: 0.0)
    again_watched = staticmethod(lambda order, deadline: None)

    def __init__(self, owner, log):
        self.owner, self.log, self.closed, self.ring = owner, log, False, None
        self.until = 0.0

    def bind(self, ring, deadline):
        self.ring = ring

    def lock(self, deadline):
        self.locked = True

    def arm(self, order, deadline, whose, *, handicap, more):
        self.order, self.armed_for = order, whose

    def left_behind(self):
        return self.owner.leaves

    def go(self, deadline):
        for slot in self.order:
            self.armed_for.ring.output(slot, "y")[...] = 0
        self.armed_for = None
        if self.owner.fails:
            raise Rejected(Finding(Outcome.CRASHED, "it crashed", {"code": 7}))
        for slot in self.order:
            self.ring.output(slot, "y")[...] = 0
        ns = int(1000 * self.owner.us)
        calls = len(self.order)
        idle_ns = int(1000 * self.owner.idle_us)
        return Ran((ns,) * calls, int(self.owner.wall * ns) * calls, 0, idle_ns)

    def close(self):
        self.closed = True


class Entrant:
    """Starts workers, and remembers them in a list that it shares with others."""

    def __init__(self, name, log, us=1.0):
        self.name, self.log, self.us, self.fails, self.wall = name, log, us, False, 1.1
        self.leaves, self.idle_us = None, 0.0

    def settle(self):
        self.log.append(f"{self.name} starts")
        self.made = Worker(self, self.log)
        return self.made


class Trial:
    deadline = 1.0

    def __init__(self, worker):
        self.worker = worker

    def move(self, worker):
        self.worker.close()
        self.worker = worker

    def bind(self, ring):
        self.worker.bind(ring, 1.0)

    def note(self, case, answer, compared):
        assert answer.name == "y"


class Bench:
    """Buffers that are new after every move."""

    flush = staticmethod(lambda: None)
    nothing = None

    def __init__(self, log):
        self.log, self.answers = log, self
        self.task = SimpleNamespace(entry="f", tolerance=Tolerance())
        self.cases = SimpleNamespace(timed=[CASE])
        self._rings = {}
        self.move(CASE)
        self.log.clear()

    def seed(self, *parts):
        return abs(hash(parts)) % 2**32

    def base(self, case):
        return SimpleNamespace(contents=BASE, compared=("y",))

    def timed(self, case, contents):
        zeros = make_answer("y", np.zeros(64), np.dtype(np.float32))
        return Question(case, contents, [zeros])

    def ring(self, case, owner="candidate"):
        return self._rings[owner]

    def move(self, case, owners=("candidate", "rival")):
        self.log.append(f"buffers for {' and '.join(owners)}")
        inputs = Inputs(case, 3, sealed=True)
        inputs.fill(BASE)
        self._rings = {owner: Ring(inputs) for owner in owners}

    def side(self, worker, ring, secret):
        return RingSide(worker, ring, BASE, secret, self.flush, 1.0)


class Duelling:
    """A duel and everything it is made of."""

    def __init__(self, **plan):
        self.log = []
        self.bench = Bench(self.log)
        self.mine, self.rival = Entrant("mine", self.log), Entrant("rival", self.log, 2.0)
        fields = {"rung": Rung.FULL, "stages": (), "workloads": "all", "looks": (30, 100)}
        rival = SimpleNamespace(id="r")
        job = SimpleNamespace(number=1, rival=rival, plan=RungPlan(**fields | plan))
        self.opponent = Opponent.__new__(Opponent)
        self.opponent.name, self.opponent.entrant = "r", self.rival
        self.opponent.trial = Trial(Worker(self.rival, self.log))
        self.trial = Trial(Worker(self.mine, self.log))
        self.duel = Duel(job, self.bench, self.trial, self.mine, self.opponent, CASE)

    def visit(self):
        sides = self.duel()
        for side in sides:
            side.block()
        return sides


def test_who_is_placed_first_alternates():
    made = Duelling(placements=3)
    for _ in range(3):
        made.visit()
    assert made.log == [
        "buffers for candidate and rival", "mine starts", "rival starts",
        "buffers for rival and candidate", "rival starts", "mine starts",
        "buffers for candidate and rival", "mine starts", "rival starts",
    ]  # fmt: skip
    assert made.duel.count == 3


def test_both_are_in_fresh_processes_on_outputs_of_their_own_and_inputs_that_they_share():
    made = Duelling()
    mine, rival = made.visit()
    assert (mine.worker, rival.worker) == (made.mine.made, made.rival.made)
    assert mine.ring is not rival.ring
    assert mine.ring.inputs is rival.ring.inputs
    assert mine.secret == rival.secret
    again, _ = made.visit()
    assert mine.worker.closed
    assert rival.worker.closed
    assert again.secret != mine.secret


def test_both_are_inspected_alike(monkeypatch):
    seen = []
    monkeypatch.setattr(CandidateSide, "inspect", lambda self, *given: seen.append(given))
    made = Duelling(checked_share=0.2, checked_least=3, placements=2)
    made.duel()
    assert len(seen) == 2
    assert seen[0][:-1] == seen[1][:-1]
    assert [given[-1] for given in seen] == [made.trial.note, made.opponent.trial.note]


def test_clocks_of_both_are_compared_and_the_candidates_are_kept():
    made = Duelling()
    made.visit()
    made.duel.leave()
    clocks = made.duel.clocks.medians()
    assert (clocks["worker"], clocks["wall"]) == (1.0, pytest.approx(1.1))
    made.duel.leave()  # nothing is left to leave


def test_a_place_where_nothing_ran_is_left_without_a_word(monkeypatch):
    monkeypatch.setattr(CandidateSide, "finish", lambda side: pytest.fail("nothing ran"))
    made = Duelling()
    made.duel()
    made.duel.leave()
    assert made.duel.clocks.claimed == []


@pytest.mark.parametrize(("name", "side"), [("mine", None), ("rival", "rival")])
def test_who_hides_work_is_blamed(name, side):
    made = Duelling()
    liar = getattr(made, name)
    liar.us, liar.wall = 1000.0, 3.0
    made.visit()
    with pytest.raises(Rejected) as caught:
        made.duel.leave()
    assert caught.value.finding.outcome is Outcome.CLOCK_DISAGREEMENT
    assert caught.value.finding.evidence.get("side") == side


@pytest.mark.parametrize(("name", "side"), [("mine", None), ("rival", "rival")])
def test_who_works_before_the_word_is_blamed_whatever_the_last_place_shows(name, side):
    made = Duelling(placements=3)
    worker = getattr(made, name)
    for idle_us in (2000.0, 2000.0, 0.0):
        worker.idle_us = idle_us
        made.visit()
    with pytest.raises(Rejected) as caught:
        made.duel.leave()
    assert caught.value.finding.outcome is Outcome.DEFERRED_WORK
    assert caught.value.finding.evidence.get("side") == side


@pytest.mark.parametrize(("name", "side"), [("mine", None), ("rival", "rival")])
def test_who_leaves_something_behind_is_blamed(name, side):
    made = Duelling()
    getattr(made, name).leaves = Finding(Outcome.TAMPERING, "it left a thread")
    with pytest.raises(Rejected) as caught:
        made.visit()
    assert caught.value.finding.outcome is Outcome.TAMPERING
    assert caught.value.finding.evidence.get("side") == side


@pytest.mark.parametrize(("name", "side"), [("mine", None), ("rival", "rival")])
def test_who_crashes_is_blamed(name, side):
    made = Duelling()
    getattr(made, name).fails = True
    with pytest.raises(Rejected) as caught:
        made.visit()
    assert caught.value.finding.outcome is Outcome.CRASHED
    assert caught.value.finding.evidence.get("side") == side


def test_a_rival_that_is_wrong_on_leaving_is_blamed(monkeypatch):
    def wrong(side):
        if isinstance(side, RivalsSide):
            raise Rejected(Finding(Outcome.STALE_OR_CACHED_OUTPUT, "a timed call was wrong"))

    monkeypatch.setattr(CandidateSide, "finish", wrong)
    made = Duelling()
    made.visit()
    with pytest.raises(Rejected) as caught:
        made.duel()
    assert caught.value.finding.evidence == {"side": "rival"}


def test_each_is_compared_with_twins_of_itself():
    made = Duelling()
    found = noises(made.bench, made.mine, made.rival)
    assert [noise.between for noise in found] == [0.0, 0.0]
    starts = [line for line in made.log if line.endswith("starts")]
    assert starts == ["mine starts"] * 2 * TWINS + ["rival starts"] * 2 * TWINS
    assert made.log.count("buffers for candidate and rival") == 2 * TWINS
    assert made.rival.made.closed


def test_a_rival_that_fails_against_itself_is_blamed_and_leaves_nothing_running():
    made = Duelling()
    made.rival.fails = True
    with pytest.raises(Rejected) as caught:
        noises(made.bench, made.mine, made.rival)
    assert caught.value.finding.evidence == {"code": 7, "side": "rival"}
    assert made.rival.made.closed
