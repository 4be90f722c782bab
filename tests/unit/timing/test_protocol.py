import numpy as np
import pytest

from kernelwright.records.outcome import Decision
from kernelwright.timing.protocol import Pairs, compare, comparison, measure
from kernelwright.timing.statistics import Noise

QUIET = Noise(half_width=0.002, pairs=30, between=0.002)


class Fake:
    """A side whose blocks take a given time, with noise of its own."""

    def __init__(self, us, noise=0.01, seed=0, log=None, name=""):
        self.us, self.noise, self.log, self.name = us, noise, log, name
        self.random = np.random.default_rng(seed)

    def ready(self):
        pass

    def skip(self):
        pass

    def block(self):
        if self.log is not None:
            self.log.append(self.name)
        return float(self.us * np.exp(self.noise * self.random.standard_normal()))


def decide(candidate_us, rival_us=100.0, looks=(30, 100), **options):
    sides = Fake(candidate_us, seed=1), Fake(rival_us, seed=2)
    return compare(lambda: sides, looks=looks, noise=QUIET, seed=7, **options)[0]


@pytest.mark.parametrize(
    ("candidate_us", "decision"),
    [(80.0, Decision.FASTER), (125.0, Decision.SLOWER), (100.0, Decision.SAME)],
)
def test_a_planted_difference_is_found(candidate_us, decision):
    pairs, interval, found, _ = decide(candidate_us, looks=(30, 100, 300, 1000))
    assert found is decision
    assert interval.low <= np.log(100 / candidate_us) <= interval.high or len(pairs) > 30


def test_it_stops_at_the_first_look_that_decides():
    pairs, *_ = decide(50.0, looks=(30, 1000))
    assert len(pairs) == 30


def test_a_hopeless_candidate_is_dropped_after_three_pairs_and_is_slower():
    pairs, _, found, _ = decide(1000.0, looks=(30, 1000))
    assert (len(pairs), found) == (3, Decision.SLOWER)


def test_running_out_of_time_before_the_first_look_never_says_faster():
    pairs, _, found, _ = decide(50.0, looks=(30,), enough_time=lambda: False)
    assert len(pairs) == 3
    assert found is Decision.UNDECIDED


def test_who_goes_first_alternates():
    log = []
    measure(Fake(1, log=log, name="a"), Fake(1, log=log, name="b"), Pairs(), 4)
    assert "".join(log) == "abbaabba"


def test_the_record_keeps_samples_only_on_demand():
    found = decide(80.0)
    bare = comparison("loop", "w", found)
    full = comparison("loop", "w", found, keep_samples=True)
    assert bare.samples == ()
    assert len(full.samples) == full.pairs == len(found.pairs)
    assert bare.low <= bare.ratio <= bare.high
    assert bare.ratio == pytest.approx(1.25, rel=0.02)


def in_company(candidate_us, *rivals_us, looks=(12, 40), **options):
    """Compare with several; their results, and who ran at each place."""
    logs, left = [], list(zip("mabd", rivals_us, strict=False))

    def place():
        logs.append([])
        sides = [("c", candidate_us), *left]
        return [
            Fake(us, noise=0.05, seed=100 * len(logs) + ord(name), log=logs[-1], name=name)
            for name, us in sides
        ]

    def narrow(number):
        left[:] = [left[number]]

    options = {"looks": looks, "noise": QUIET, "seed": 7, "narrow": narrow} | options
    return compare(place, **options), ["".join(log) for log in logs]


def test_others_take_part_in_half_of_the_pairs_up_to_the_first_look_in_turns():
    found, logs = in_company(99.0, 100.0, 200.0, 190.0, placements=4)
    assert [len(one.pairs) for one in found] == [40, 6, 6]
    assert [one.decision for one in found[1:]] == [Decision.FASTER, Decision.FASTER]
    assert logs[:2] == ["cmab" + "mc" + "cmba", "mc" + "cmab" + "mc"]
    assert [set(log) for log in logs] == [set("cmab")] * 4 + [set("cm")] * 4


def test_others_share_the_candidates_blocks():
    found, _ = in_company(99.0, 100.0, 200.0, placements=3)
    main, other = (one.pairs for one in found)
    assert main.candidate_us[:12:2] == other.candidate_us
    assert main.groups[:12:2] == other.groups


def test_others_are_known_whatever_becomes_of_the_one_to_beat():
    found, _ = in_company(1000.0, 100.0, 5000.0, placements=4)
    assert [one.decision for one in found] == [Decision.SLOWER, Decision.FASTER]
    assert len(found[1].pairs) == 6


@pytest.mark.parametrize("placements", [1, 4])
def test_the_looks_after_the_first_are_for_whoever_is_the_hardest_to_beat_by_then(placements):
    found, logs = in_company(100.0, 200.0, 100.0, 150.0, placements=placements)
    assert [len(one.pairs) for one in found] == [12, 40, 6]
    assert found[0].decision is Decision.FASTER
    assert set("".join(logs[placements:] if placements > 1 else [logs[0][-8:]])) == set("ca")


def test_two_pairs_decide_nothing():
    found, _ = in_company(100.0, 99.0, 10.0, enough_time=lambda: False)
    assert (len(found[1].pairs), found[1].decision) == (2, Decision.UNDECIDED)


def test_placements_that_differ_widen_the_interval():
    def place():
        factor = next(factors)
        return Fake(100.0 * factor, seed=3), Fake(100.0, seed=4)

    options = {"looks": (32,), "noise": QUIET, "seed": 7}
    factors = iter([1.0, 1.3, 0.8, 1.1])
    ((pairs, wide, decision, _),) = compare(place, placements=4, **options)
    factors = iter([1.0])
    ((_, narrow, _, _),) = compare(place, **options)
    assert sorted(set(pairs.groups)) == [1, 2, 3, 4]
    assert [pairs.groups.count(group) for group in (1, 2, 3, 4)] == [8, 8, 8, 8]
    assert wide.half_width > 5 * narrow.half_width
    assert decision is Decision.UNDECIDED


def test_every_look_gets_places_of_its_own():
    made = []

    def place():
        made.append(1)
        return Fake(100.0, noise=0.3, seed=len(made)), Fake(100.0, noise=0.3, seed=50 + len(made))

    ((pairs, *_),) = compare(place, looks=(12, 40), noise=QUIET, seed=7, placements=3)
    assert (len(pairs), len(made), len(set(pairs.groups))) == (40, 6, 6)


class Visited:
    """Places that know how many blocks were run at each."""

    def __init__(self, candidate_us):
        self.logs, self.candidate_us = [], candidate_us

    def __call__(self):
        self.logs.append([])
        log = self.logs[-1]
        return Fake(self.candidate_us, log=log), Fake(100.0, seed=1, log=log)


@pytest.mark.parametrize(("looks", "placements"), [((24, 72), 4), ((30, 100), 8), ((12,), 1)])
@pytest.mark.parametrize("candidate_us", [1000.0, 300.0, 170.0])
def test_nobody_goes_to_a_place_where_nothing_is_left_to_do(looks, placements, candidate_us):
    """There the candidate would be asked about calls that it never made."""
    visited = Visited(candidate_us)
    ((pairs, _, found, _),) = compare(
        visited, looks=looks, noise=QUIET, seed=7, placements=placements
    )
    assert found is Decision.SLOWER
    assert len(pairs) in (3, 6, 12)
    assert all(visited.logs)
    assert sum(map(len, visited.logs)) == 2 * len(pairs)


@pytest.mark.parametrize("enough", range(3, 30))
def test_nobody_goes_on_to_another_place_when_the_time_is_over(enough):
    visited = Visited(99.0)

    def enough_time():
        return sum(map(len, visited.logs)) < 2 * enough

    ((pairs, _, found, _),) = compare(
        visited, looks=(30,), noise=QUIET, seed=7, placements=8, enough_time=enough_time
    )
    assert (len(pairs), found) == (enough, Decision.UNDECIDED)
    assert all(visited.logs)


def test_a_place_without_a_pair_makes_no_margin_smaller():
    noise = Noise(half_width=0.0, pairs=30, between=0.04)
    moments = iter([True] * 4)
    places = []

    def place():
        places.append(1)
        return Fake(99.0, noise=0.0), Fake(100.0, noise=0.0)

    ((pairs, _, _, margin),) = compare(
        place,
        looks=(8,),
        noise=noise,
        seed=7,
        placements=2,
        enough_time=lambda: next(moments, False),
    )
    assert margin == noise.margin(len(pairs), len(set(pairs.groups)))
