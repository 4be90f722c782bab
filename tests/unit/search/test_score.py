"""The score, the roof and what counts as an improvement."""

import math

import pytest

from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import BaselineTime, Session
from kernelwright.records.measurement import Comparison, Measurement, Times
from kernelwright.records.outcome import Decision, Outcome
from kernelwright.records.rung import Rung
from kernelwright.search.finals import Finals
from kernelwright.search.score import at_the_roof, is_improvement, roof_fraction, score


def session(**change):
    given = {"baselines": (BaselineTime(name="loop"),), "strongest": "loop", "bandwidth_gbps": 1,
             "rate_gflops": 1, "noop_us": 0, "environment": {}} | change  # fmt: skip
    return Session(**given)


def comparison(low, ratio=None, high=None, baseline="loop", workload="a", decision="faster"):
    return Comparison(baseline=baseline, workload=workload, low=low, ratio=ratio or low * 1.01,
                      high=high or low * 1.02, decision=Decision(decision), margin=0.01, pairs=30,
                      candidate_us=1, baseline_us=1)  # fmt: skip


def look(*comparisons, rung=Rung.FULL, times=()):
    measured = tuple(
        Measurement(workload=name, noop_us=0,
                    time_us=Times(median=us, p20=us, p80=us, min=us, n=1))
        for name, us in times
    )  # fmt: skip
    return Evaluation(candidate="c", rung=rung, outcome=Outcome.PASSED,
                      comparisons=comparisons, measurements=measured)  # fmt: skip


def test_the_worst_workload_weighs_in():
    even = score(look(comparison(2.0), comparison(2.0, workload="b")))
    uneven = score(look(comparison(4.0), comparison(1.0, workload="b")))
    assert even.speedup == pytest.approx(uneven.speedup)
    assert uneven.value < even.value
    assert uneven.low == pytest.approx(0.75 * math.log(2) + 0.25 * 0.0)


def test_evidence_counts():
    values = [score(look(comparison(1.5), rung=rung)).value for rung in list(Rung)[1:]]
    assert values == sorted(values)
    assert values[0] < values[-1]


def test_the_baseline_that_is_hardest_to_beat_counts():
    both = look(comparison(9.0, baseline="eager"), comparison(1.2))
    assert score(both).low == pytest.approx(math.log(1.2))
    only = look(comparison(9.0, baseline="eager"))
    assert score(only).low == pytest.approx(math.log(9.0))


def test_only_the_baselines_that_are_named_count():
    both = look(comparison(9.0, baseline="eager"), comparison(1.2))
    assert score(both, ("eager",)).low == pytest.approx(math.log(9.0))
    assert score(both, ("eager", "loop")).low == pytest.approx(math.log(1.2))
    assert score(both, ("numpy",)) is None


def test_confirmed_numbers_are_set_beside_each_other_by_baselines_that_all_met():
    """One was confirmed where the framework is installed, the other where it is not."""
    finals = Finals(None)
    finals.session = session()
    here = look(comparison(2.0), comparison(1.2, baseline="compile"), rung=Rung.CONFIRM)
    elsewhere = look(comparison(1.5), rung=Rung.CONFIRM).model_copy(update={"candidate": "d"})
    for verdict in (here, elsewhere):
        finals.add(verdict)
    assert finals.best() == here


def test_what_did_not_pass_has_no_score():
    failed = Evaluation(candidate="c", rung=Rung.FULL, outcome=Outcome.WRONG_VALUES)
    assert score(failed) is None
    assert score(look()) is None
    assert not is_improvement(failed)
    assert not at_the_roof(failed, session(floor_us={"a": 1.0}))


@pytest.mark.parametrize(
    ("comparisons", "expected"),
    [
        ([comparison(1.05)], True),
        ([comparison(1.005)], False),
        ([comparison(1.05, decision="undecided")], False),
        ([comparison(1.5), comparison(0.9, workload="b", decision="slower")], True),
        ([comparison(1.05), comparison(0.9, workload="b", decision="slower")], False),
    ],
)
def test_an_improvement_exceeds_the_margin_where_it_counts(comparisons, expected):
    assert is_improvement(look(*comparisons)) is expected


def test_the_roof_is_a_mean_over_every_timed_workload():
    times = (("a", 100.0), ("b", 100.0))
    found = look(comparison(1.1), times=times)
    assert roof_fraction(found, session(floor_us={"a": 100.0, "b": 25.0})) == pytest.approx(0.5)
    assert at_the_roof(found, session(floor_us={"a": 95.5, "b": 95.5}))
    assert not at_the_roof(found, session(floor_us={"a": 94.5, "b": 94.5}))
    # A floor that is unknown for one workload proves nothing.
    assert not at_the_roof(found, session(floor_us={"a": 99.0}))
