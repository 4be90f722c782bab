"""Two candidates timed against each other for real: symmetric, confined, each blamed alone."""

from __future__ import annotations

import shutil

import pytest

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.devices.disturbance import disturbance
from kernelwright.errors import JudgeError
from kernelwright.executors.base import judged
from kernelwright.executors.local import LocalExecutor
from kernelwright.records.job import JudgeJob
from kernelwright.records.outcome import Decision, Outcome
from kernelwright.records.rung import Rung
from tests.device import judging
from tests.device.judging import RIGHT, UNSHIFTED, body

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

AGAIN = body(f"for (int i = 0; i < 4; ++i) {RIGHT}")
MEET = judging.CONFIRM.model_copy(
    update={
        "rung": Rung.FULL, "stages": ("smoke", "declared"), "all_baselines": False,
        "placements": 4, "looks": (24, 72),
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def executor(tmp_path_factory):
    made = LocalExecutor(threads=2, cache=tmp_path_factory.mktemp("cache"), baselines=("loop",))
    made.open(judging.task())
    yield made
    made.close()


def meet(executor, b, a, plan=MEET):
    """What is found of B, timed against A."""
    job = JudgeJob(
        number=1,
        task=judging.task(),
        candidate=make_candidate(b, "cpp"),
        rival=make_candidate(a, "cpp"),
        plan=plan,
        seed=1,
        threads=2,
    )
    return judged(executor, job)


def ratio(found):
    busy = disturbance(found.conditions)
    if found.outcome is Outcome.CLOCK_DISAGREEMENT and busy:
        pytest.skip(f"{busy}, and clocks disagree")
    assert found.outcome is Outcome.PASSED, (found.reason, found.evidence)
    (one,) = found.comparisons
    assert one.low <= one.ratio <= one.high
    return one


def test_exchanging_the_two_gives_the_inverse(executor):
    one = ratio(meet(executor, judging.LOOP, AGAIN))
    other = ratio(meet(executor, AGAIN, judging.LOOP))
    # Where others use the machine too, neither may be decided; they must not contradict.
    assert one.decision in (Decision.FASTER, Decision.UNDECIDED)
    assert other.decision in (Decision.SLOWER, Decision.UNDECIDED)
    assert one.ratio > 1 > other.ratio
    assert 0.5 < one.ratio * other.ratio < 2


def test_a_kernel_is_neither_faster_nor_slower_than_itself(executor):
    found = meet(executor, judging.LOOP, judging.LOOP + "// the same\n")
    one = ratio(found)
    assert one.decision in (Decision.SAME, Decision.UNDECIDED)
    margins = found.evidence["own_margins"]
    assert set(margins) == {"candidate", "rival"}
    assert max(margins.values()) == pytest.approx(one.margin)
    assert one.baseline == make_candidate(judging.LOOP + "// the same\n", "cpp").id


def test_what_is_recorded(executor):
    found = meet(executor, judging.LOOP, AGAIN)
    assert [check.name for check in found.checks] == [
        "load", "smoke", "declared", "against itself", "time main",
    ]  # fmt: skip
    assert found.measurements[0].workload == "main"
    assert found.conditions.seconds > 0
    assert found.conditions.others is not None


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("*(volatile int*)8 = 1;", Outcome.CRASHED),
        (f"{RIGHT} return 7;", Outcome.RUNTIME_ERROR),
        (f"{RIGHT} if (M == 64) q[0] += 1;", Outcome.STALE_OR_CACHED_OUTPUT),
        (f"{RIGHT} if (M == 64) q[M + 8] = 1;", Outcome.OUT_OF_BOUNDS),
    ],
)
def test_a_rival_is_confined_inspected_and_blamed(executor, text, outcome):
    plan = MEET.model_copy(update={"checked_share": 1.0})
    found = meet(executor, judging.LOOP, body(text), plan)
    assert (found.outcome, found.evidence.get("side")) == (outcome, "rival"), found.reason
    assert found.comparisons == ()
    if "rival" not in found.reason:
        assert outcome in (Outcome.STALE_OR_CACHED_OUTPUT, Outcome.OUT_OF_BOUNDS)
    assert ratio(meet(executor, judging.LOOP, AGAIN)).ratio > 1


def test_a_candidate_is_blamed_for_its_own(executor):
    found = meet(executor, body("y[0] = 1;"), judging.LOOP)
    assert found.outcome is Outcome.WRONG_VALUES
    assert "side" not in found.evidence


def test_what_a_confirm_cannot_do_is_refused(executor):
    with pytest.raises(JudgeError, match="not with another candidate"):
        meet(executor, judging.LOOP, AGAIN, judging.CONFIRM)


def test_a_look_without_pairs_times_nothing(executor):
    plan = MEET.model_copy(update={"looks": ()})
    job = JudgeJob(number=1, task=judging.task(), candidate=make_candidate(judging.LOOP, "cpp"),
                   plan=plan, seed=1, threads=2)  # fmt: skip
    found = judged(executor, job)
    assert (found.outcome, found.measurements, found.comparisons) == (Outcome.PASSED, (), ())
    assert "declared" in {check.name for check in found.checks}


def test_the_rival_too_is_asked_once_its_calls_were_timed(executor):
    """It is right on what is timed, and nothing else is asked of a rival before."""
    plan = MEET.model_copy(update={"stages": ("smoke", "declared", "timed_stability")})
    found = meet(executor, judging.LOOP, body(UNSHIFTED), plan)
    assert found.outcome is Outcome.NUMERICALLY_UNSTABLE, (found.reason, found.evidence)
    assert found.evidence["side"] == "rival"
