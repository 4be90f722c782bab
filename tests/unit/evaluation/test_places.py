"""A comparison's places: fresh processes and buffers, one secret a place, checks on leaving."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.errors import TaskError
from kernelwright.evaluation.places import Places
from kernelwright.evaluation.report import Ran
from kernelwright.evaluation.ring import Ring
from kernelwright.evaluation.ring_inputs import Inputs
from kernelwright.evaluation.sides import CandidateSide, RingSide
from kernelwright.records.outcome import Outcome
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.timing.protocol import Pairs, measure
from tests.samples import VECTOR as CASE

BASE = {"x": np.random.default_rng(1).standard_normal(64).astype(np.float32)}


class Worker:
    """Claims a microsecond a call."""

    armed_for = None
    beside_us = staticmethod(lambda ring: 0.0)
    again_watched = staticmethod(lambda order, deadline: None)
    left_behind = staticmethod(lambda: None)
    locked = False

    def lock(self, deadline):
        self.locked = True

    def arm(self, order, deadline, whose, *, handicap, more):
        self.order, self.armed_for = order, whose

    def go(self, deadline):
        for slot in self.order:
            self.armed_for.ring.output(slot, "y")[...] = 0
        self.armed_for = None
        return Ran((1000,) * len(self.order), 1100 * len(self.order))


class Trial:
    """Remembers its moves."""

    deadline = 1.0

    def __init__(self):
        self.worker, self.moves, self.bound = Worker(), [], []

    def move(self, worker):
        self.worker = worker
        self.moves.append(worker)

    def bind(self, ring):
        self.bound.append(ring)

    def note(self, case, answer, compared):
        pass


class Bench:
    """Buffers that are new after every move, and seeds that depend on everything asked."""

    strongest = "loop"
    flush = staticmethod(lambda: None)
    task = SimpleNamespace(tolerance=SimpleNamespace(k=4.0))

    def __init__(self):
        self.moves, self.rivals, self.answers = 0, [], self

    def against(self, name):
        return name or self.strongest

    def seed(self, *parts):
        return abs(hash(parts)) % 2**32

    def base(self, case):
        return SimpleNamespace(contents=BASE)

    def ring(self, case, owner="candidate"):
        made = Ring(Inputs(case, 3, sealed=True))
        made.inputs.fill(BASE)
        return made

    def move(self, case):
        self.moves += 1

    def rival_side(self, name, case, secret):
        self.rivals.append(name)
        return RingSide(Worker(), self.ring(case, "rival"), BASE, secret, self.flush, 1.0)


@pytest.fixture
def made():
    """Makes the places of a comparison with a baseline; its bench and trial come with it."""

    def places(*baselines, placements=8, looks=(30, 100), **plan):
        job = SimpleNamespace(
            number=7,
            against="",
            plan=RungPlan(
                rung=Rung.CONFIRM,
                stages=(),
                workloads="all",
                looks=looks,
                placements=placements,
                **plan,
            ),
        )
        bench, trial = Bench(), Trial()
        return Places(job, bench, trial, CASE, list(baselines or ["loop"]), Worker), bench, trial

    return places


def visit(places):
    """Go to a place and run a block on either side."""
    sides = places()
    for side in sides:
        side.block()
    return sides


def test_all_baselines_take_part_until_one_is_left(made):
    places, bench, _ = made("loop", "numpy", "eager", placements=2)
    assert [len(visit(places)) for _ in range(2)] == [4, 4]
    places.narrow(1)
    assert [len(visit(places)) for _ in range(2)] == [2, 2]
    assert bench.rivals == 2 * ["loop", "numpy", "eager"] + 2 * ["numpy"]


def test_where_a_process_is_used_for_one_place_it_is_locked_before_its_first_block(made):
    for placements, locked in ((1, False), (2, True)):
        places, _, trial = made(placements=placements)
        places()
        assert trial.worker.locked is locked


def test_whoever_runs_sees_the_contents_of_the_candidates_block(made, monkeypatch):
    """Also a baseline that takes part in every second pair."""
    seen, block = [], RingSide.block

    def watched(side):
        took = block(side)
        seen.append((len(seen), side.ring.inputs.contents(0)["x"].tobytes(), tuple(side.order)))
        return took

    places, bench, _ = made("loop", "numpy")
    ring = bench.ring(CASE, "rival")
    monkeypatch.setattr(bench, "ring", lambda case, owner="candidate": ring)
    monkeypatch.setattr(RingSide, "block", watched)
    monkeypatch.setattr(CandidateSide, "after", lambda side: None)
    candidate, rival, other = places()
    measure(candidate, rival, Pairs(), 4, others=[(other, Pairs())])
    rounds = [seen[0:3], seen[3:5], seen[5:8], seen[8:10]]
    assert [len({(what, order) for _, what, order in one}) for one in rounds] == [1] * 4
    assert len({what for _, what, _ in seen}) == 4


def test_a_baseline_that_breaks_at_a_place_is_not_the_candidates_fault(made, monkeypatch):
    places, bench, _ = made()
    dropped = []

    def breaks(name, case, secret):
        raise Rejected(Finding(Outcome.CRASHED, "the baseline crashed"))

    monkeypatch.setattr(bench, "rival_side", breaks)
    monkeypatch.setattr(bench, "rivals", SimpleNamespace(drop=dropped.append))
    with pytest.raises(TaskError, match="baseline crashed"):
        places()
    assert dropped == ["loop"]


def test_the_first_place_is_where_the_candidate_is_already(made):
    places, bench, trial = made()
    visit(places)
    assert (trial.moves, bench.moves) == ([], 0)


def test_another_place_is_another_process_and_other_buffers(made):
    places, bench, trial = made("numpy")
    first, second = visit(places), visit(places)
    assert trial.moves == [trial.worker]
    assert bench.moves == 1
    assert bench.rivals == ["numpy", "numpy"]
    assert first[0].worker is not second[0].worker
    assert first[0].ring is not second[0].ring
    assert trial.bound == [first[0].ring, second[0].ring]


def test_both_sides_of_a_pair_see_the_same_contents_and_no_place_sees_anothers(made):
    places, _, _ = made()
    found = [visit(places) for _ in range(4)]
    assert all(side.secret == rival.secret for side, rival in found)
    assert len({side.secret for side, _ in found}) == 4


def test_clocks_are_those_of_all_places_together(made):
    places, _, _ = made()
    visit(places)
    visit(places)
    places.leave()
    assert places.clocks.medians() == {
        "worker": 1.0, "wall": pytest.approx(1.1), "cpu": 0, "idle": 0
    }  # fmt: skip
    assert len(places.clocks.claimed) == 2
    places.leave()  # nothing is left to leave
    assert len(places.clocks.claimed) == 2


def test_what_is_found_on_leaving_ends_the_comparison_where_it_is(made, monkeypatch):
    places, bench, trial = made()
    visit(places)

    def wrong(side):
        raise Rejected(Finding(Outcome.STALE_OR_CACHED_OUTPUT, "a timed call was wrong"))

    monkeypatch.setattr(CandidateSide, "finish", wrong)
    with pytest.raises(Rejected, match="wrong"):
        places()
    assert (trial.moves, bench.moves) == ([], 0)


def test_a_place_where_nothing_ran_is_left_without_a_word(made, monkeypatch):
    """The time may be over by then: there are no calls that could have been wrong."""
    monkeypatch.setattr(CandidateSide, "inspect", lambda side, *given: None)
    monkeypatch.setattr(CandidateSide, "finish", lambda side: pytest.fail("nothing ran"))
    places, _, _ = made()
    places()
    places.leave()
    assert places.clocks.claimed == []


@pytest.mark.parametrize(
    ("share", "most", "expected"), [(0.2, 100, 0.2), (0.2, 400, 0.1), (0.0, 400, 0.0)]
)
def test_long_comparisons_are_validated_in_part(made, monkeypatch, share, most, expected):
    seen = []
    monkeypatch.setattr(
        CandidateSide, "inspect", lambda self, *given: seen.append(given), raising=True
    )
    places, bench, _ = made(looks=(30, most), checked_share=share, checked_least=3)
    places()
    answers, tolerance, found, least, blocks, _ = seen[0]
    assert answers is bench.answers
    assert (tolerance.k, found, least) == (4.0, pytest.approx(expected), 3)
    assert blocks == 30 // 8
