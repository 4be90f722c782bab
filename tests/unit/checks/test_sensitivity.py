import numpy as np
import pytest

from kernelwright.checks.answer import make_answer
from kernelwright.checks.correctness import allowed, distance
from kernelwright.checks.sensitivity import SAME_INPUTS, Examined, InsensitiveTask, Row, decide
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Tolerance

F32 = np.dtype("float32")


def answer(honest=1e-4):
    truth = np.random.default_rng(0).standard_normal(1000)
    return make_answer("y", truth, F32, (truth + honest,))


def row(name, tolerances, right=None, of="y"):
    """A control that is off by so many tolerances of k = 4."""
    right = right or answer()
    limit = allowed(right, Tolerance())[0]
    tries = []
    for many in tolerances:
        got = right.truth.copy()
        got[5] += many * limit
        tries.append([(distance(got, right), right)])
    return Row(name, of, tries=tries)


def verdict(*rows, tolerance=None, honest=True):
    found = decide(
        "t", tolerance or Tolerance(), [Examined("w", list(rows), 0.1)], lambda _: honest
    )
    return found, {one.name: one.verdict for one in found.workloads[0].controls}


def test_what_is_rejected_everywhere_leaves_the_tolerance_alone():
    found, said = verdict(row("zeros", [50, 3]), row("mean", [1.1]), row("last_tile", []))
    assert said == {"zeros": "rejected", "mean": "rejected", "last_tile": "right"}
    assert (found.refused, found.tolerance, found.tightened_from) == (False, Tolerance(), None)


def test_what_is_meant_to_pass_may_pass():
    found, said = verdict(Row("half_the_tolerance", "y", tries=row("", [0.5]).tries, right=True))
    assert said == {"half_the_tolerance": "right"}
    assert (found.refused, found.tightened_from) == (False, None)


def test_the_least_distance_counts():
    found, said = verdict(row("zeros", [1000, 0.01]))
    assert said == {"zeros": "accepted"}
    assert found.refused


@pytest.mark.parametrize(("off", "k"), [(0.9, 2.0), (0.45, 1.0), (0.3, 1.0)])
def test_the_tolerance_is_tightened_no_further_than_it_must(off, k):
    found, said = verdict(row("zeros", [off]))
    assert said == {"zeros": "rejected"}
    assert found.tolerance == Tolerance(k=k)
    assert found.tightened_from == Tolerance()
    assert not found.refused


def test_the_floor_is_halved_last():
    exact = answer(honest=0.0)
    found, _ = verdict(row("zeros", [0.6], exact))
    assert found.tolerance == Tolerance(k=1, ulps=1)


def test_a_tolerance_that_honest_evaluations_miss_is_not_used():
    found, said = verdict(row("zeros", [0.9]), honest=False)
    assert said == {"zeros": "accepted"}
    assert found.tolerance == Tolerance()
    assert "'zeros' passes for output y, off by 0.9 tolerances" in found.reason
    assert found.hint


def test_an_output_on_which_honest_evaluations_disagree_cannot_be_scored():
    found, said = verdict(row("zeros", [50]), Row("undecided", "y", "12.5%", tries=[[]]))
    assert said == {"zeros": "rejected", "undecided": "accepted"}
    assert found.refused
    assert "output y and its float64 answer part at 12.5% of the elements" in found.reason
    assert "rounded or compared" in found.hint
    assert found.tightened_from is None


def test_two_seeds_must_be_ten_tolerances_apart():
    # Four tolerances at k = 4 are sixteen at k = 1: tightened.
    assert verdict(row("another_seed", [4]))[0].tolerance.k == 1
    assert verdict(row("another_seed", [11]))[0].tolerance.k == 4
    found, _ = verdict(row("another_seed", [0.0]))
    assert "two seeds" in found.reason


def test_an_input_that_cannot_be_varied_is_refused():
    found, said = verdict(Row("perturbed", "w", tries=[[]]))
    assert said == {"perturbed": "accepted"}
    assert "changing w changes the outputs by nothing" in found.reason
    _, said = verdict(Row("perturbed", "w", tried=False))
    assert said == {"perturbed": "not_tried"}


def test_the_refusal_is_an_error_and_a_verdict():
    found, _ = verdict(row("zeros", [0.1]), row("mean", [0.2]))
    refusal = InsensitiveTask(found)
    assert refusal.message == found.reason
    finding = refusal.finding()
    assert finding.outcome is Outcome.INSENSITIVE_TASK
    assert finding.evidence["hint"] == refusal.hint
    assert [one["control"] for one in finding.evidence["controls"]] == ["zeros", "mean"]


def test_a_seed_of_the_task_s_own_is_named():
    alike = row("another_seed", [0.04])
    alike.note = SAME_INPUTS
    found, _ = verdict(alike)
    assert "the inputs are the same under every seed" in found.reason
    assert "a seed of its own" in found.hint
    assert "a seed of its own" not in verdict(row("another_seed", [0.04]))[0].hint
