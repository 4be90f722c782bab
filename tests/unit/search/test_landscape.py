"""Landscapes: measured whole, kept compactly, replayed with other luck, never invented."""

import gzip
import math

import pytest

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.candidates.tunables import space
from kernelwright.errors import JudgeError, UsageError
from kernelwright.records.job import JudgeJob
from kernelwright.records.outcome import Outcome
from kernelwright.records.rung import Rung
from kernelwright.search import study
from kernelwright.search.landscape import LandscapeExecutor, load, redrawn
from kernelwright.search.rungs import plans_for
from kernelwright.search.survey import measure_landscape
from kernelwright.testing.simulated import (
    SimulatedExecutor,
    Truth,
    made_up_candidates,
    made_up_task,
    smooth_truth,
)

PLANS = [plan for rung, plan in plans_for("quick").items() if rung < Rung.CONFIRM]


def grid(structures):
    return [
        make_candidate(one.source, one.language, point)
        for one in made_up_candidates(structures)
        for point in space(one.header, {"N": 1 << 20, "cores": 1}).points()
    ]


def truth(candidate):
    if candidate.tunables["UNROLL"] == 3:
        return Truth(outcome=Outcome.WRONG_VALUES, fails_at=Rung.SCREEN)
    return smooth_truth(candidate)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    path = tmp_path_factory.mktemp("landscape") / "made-up.jsonl.gz"
    executor = SimulatedExecutor(truth, drafts=2)
    return path, measure_landscape(made_up_task(), executor, grid(2), PLANS, path, threads=1)


def test_every_point_is_kept_with_its_samples_failures_too(measured):
    path, found = measured
    assert set(found.candidates) == {one.id for one in grid(2)}
    for candidate in found.candidates.values():
        reached = [rung for (owner, rung) in found.looks if owner == candidate.id]
        fails = candidate.tunables["UNROLL"] == 3
        assert max(reached) is (Rung.SCREEN if fails else Rung.FULL)
        assert len(reached) == max(reached) + 1
    full = [look for (_, rung), look in found.looks.items() if rung is Rung.FULL]
    assert {len(item.samples) for look in full for item in look.comparisons} == {300}
    best = max(smooth_truth(one).speedup for one in grid(2) if one.tunables["UNROLL"] != 3)
    assert found.best() == pytest.approx(best, rel=0.02)
    assert len(found.structures()) == 2
    assert load(path).looks == found.looks


def test_a_survey_goes_on_where_it_was_even_behind_a_torn_line(tmp_path):
    path = tmp_path / "part.jsonl.gz"

    class Breaks(SimulatedExecutor):
        def wait(self, timeout=None):
            if len(self.judged) > 30:
                raise JudgeError("the verifier died")
            return super().wait(timeout)

    with pytest.raises(JudgeError):
        measure_landscape(made_up_task(), Breaks(), grid(1), PLANS, path, threads=1)
    path.write_bytes(path.read_bytes()[:-10])
    done = set(load(path).candidates)
    assert 0 < len(done) < len(grid(1))
    again = SimulatedExecutor()
    whole = measure_landscape(made_up_task(), again, grid(1), PLANS, path, threads=1)
    assert not done & {candidate for _, candidate, _ in again.judged}
    assert set(whole.candidates) == {one.id for one in grid(1)}
    with gzip.open(path, "rt") as file:
        assert sum(1 for _ in file) == 1 + 1 + len(grid(1))


def test_a_landscape_of_something_else_is_refused(measured, tmp_path):
    path, _ = measured
    with pytest.raises(UsageError, match="another task"):
        measure_landscape(made_up_task(), SimulatedExecutor(), [], PLANS, path, threads=2)
    other = tmp_path / "other"
    other.write_text("no landscape")
    with pytest.raises(UsageError, match="not a landscape"):
        load(other)
    with pytest.raises(UsageError, match="no landscape at"):
        load(tmp_path / "absent")
    with pytest.raises(UsageError, match="not another"):
        LandscapeExecutor(load(path)).open(made_up_task("another"))


def job(candidate, rung, seed=1):
    plan = plans_for("quick")[rung]
    return JudgeJob(number=1, task=made_up_task(), candidate=candidate, plan=plan, seed=seed,
                    threads=1)  # fmt: skip


def test_another_seed_is_other_luck_around_the_same_truth(measured):
    _, found = measured
    executor = LandscapeExecutor(found)
    one = next(iter(found.candidates.values()))
    recorded = found.looks[one.id, Rung.SCREEN].comparisons[0]
    ratios = []
    for seed in range(60):
        drawn = executor.judge(job(one, Rung.SCREEN, seed)).comparisons[0]
        assert drawn.samples == ()
        assert drawn.low <= drawn.ratio <= drawn.high
        ratios.append(math.log(drawn.ratio))
    spread = max(ratios) - min(ratios)
    assert 0 < spread < 0.2
    assert sum(ratios) / len(ratios) == pytest.approx(math.log(recorded.ratio), abs=0.02)
    assert redrawn(found.looks[one.id, Rung.SCREEN], 5) == executor.judge(job(one, Rung.SCREEN, 5))


def test_the_clock_moves_by_the_recorded_seconds(measured):
    _, found = measured
    executor = LandscapeExecutor(found)
    one = next(iter(found.candidates.values()))
    executor.submit(job(one, Rung.FULL))
    assert executor.wait(0.5) is None
    assert executor.clock() == 0.5
    assert executor.wait().evaluation.candidate == one.id
    assert executor.clock() == found.looks[one.id, Rung.FULL].seconds


def test_what_is_not_in_the_grid_is_counted_not_invented(measured):
    _, found = measured
    executor = LandscapeExecutor(found)
    stranger = made_up_candidates(3)[2]
    assert executor.judge(job(stranger, Rung.SMOKE)).outcome is Outcome.UNSUPPORTED
    one = next(iter(found.candidates.values()))
    assert executor.judge(job(one, Rung.CONFIRM)).outcome is Outcome.UNSUPPORTED
    assert executor.missed == 2


def test_a_failure_below_is_met_by_whoever_skips_the_rung_that_found_it(measured):
    _, found = measured
    executor = LandscapeExecutor(found)
    wrong = next(one for one in found.candidates.values() if one.tunables["UNROLL"] == 3)
    answer = executor.judge(job(wrong, Rung.FULL))
    assert (answer.outcome, answer.rung) == (Outcome.WRONG_VALUES, Rung.FULL)
    assert answer.seconds == found.looks[wrong.id, Rung.SCREEN].seconds
    assert executor.missed == 0


def test_a_study_trial_repeats_itself_and_rungs_spend_less_than_full_fidelity(measured):
    _, found = measured
    ways = study.ways("quick")
    cheap = study.trial(found, ways["rungs"], seed=3)
    assert cheap == study.trial(found, ways["rungs"], seed=3)
    dear = study.trial(found, ways["full fidelity"], seed=3)
    assert cheap.missed == dear.missed == 0
    assert dear.reached
    assert dear.looks == len(found.candidates)
    assert 0 < cheap.device_s < dear.device_s


def test_intervals_over_seeds_cover_the_number():
    low_high = study.median([1.0, 2.0, 3.0, 4.0, 100.0] * 4)
    assert low_high.low <= low_high.value == 3.0 <= low_high.high
    gain = study.speedup([10.0, 20.0, 30.0], [5.0, 10.0, 15.0])
    assert gain.value == gain.low == gain.high == 2.0
