"""When a verifier measures the peaks of its processor again."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from kernelwright.devices import measured
from kernelwright.devices.measured import Peaks
from kernelwright.evaluation import ceiling, pipeline, verifier
from kernelwright.evaluation.aftermath import Aftermath
from kernelwright.evaluation.verifier import Verifier
from kernelwright.records.job import JudgeJob
from kernelwright.records.measurement import Roofline
from kernelwright.records.rung import Rung
from kernelwright.search.rungs import plans_for
from tests import samples

JOB = JudgeJob(
    number=1,
    task=samples.task(),
    candidate=samples.candidate(),
    plan=plans_for("quick")[Rung.SCREEN],
    seed=1,
    threads=2,
)
PEAKS = Peaks(warm_read_gbps=100.0, rate_gflops=50.0, flush_bytes=8)


@pytest.fixture
def judge(monkeypatch, tmp_path):
    """A verifier whose measurements are made up, and how often it measured."""
    made = Verifier(tmp_path)
    made.measured = 0
    made.others = 0.0
    made.copy_gbps = 20.0

    def streams(*_):
        made.measured += 1
        return {"copy": made.copy_gbps, "read": 10.0}

    def watch(*_):
        found = SimpleNamespace(others=made.others, steal=0.0)
        return SimpleNamespace(conditions=lambda: found)

    monkeypatch.setattr(measured, "measure", lambda _: PEAKS)
    monkeypatch.setattr(ceiling, "measure", streams)
    monkeypatch.setattr(verifier, "Watch", watch)
    monkeypatch.setattr(verifier, "Flush", lambda *_: None)
    return made


def copy_gbps(judge):
    return judge._peaks(judge.folder / "peaks.so", None)[0].copy_gbps


def test_a_quiet_measurement_serves_the_sessions_that_follow(judge):
    assert [copy_gbps(judge) for _ in range(3)] == [20.0] * 3
    assert judge.measured == 1


def test_what_was_measured_on_a_busy_machine_is_measured_again_and_the_better_counts(judge):
    judge.others = 1.3
    assert copy_gbps(judge) == 20.0
    judge.copy_gbps = 15.0
    assert copy_gbps(judge) == 20.0
    judge.copy_gbps, judge.others = 40.0, 0.0
    assert [copy_gbps(judge) for _ in range(2)] == [40.0] * 2
    assert judge.measured == 3


@pytest.mark.parametrize(
    ("roof", "again"),
    [
        (Roofline(floor_us=15.0, fraction=1.5, bound="bandwidth"), True),
        (Roofline(floor_us=10.0, fraction=1.0, bound="bandwidth"), False),
        (Roofline(floor_us=15.0, fraction=1.5, bound="rate"), False),
        (None, False),
    ],
)
def test_a_kernel_above_the_roof_lets_the_next_session_measure(judge, monkeypatch, roof, again):
    copy_gbps(judge)
    found = samples.evaluation(samples.candidate()).model_copy(update={"roofline": roof})
    monkeypatch.setattr(pipeline, "judge", lambda *_: found)
    monkeypatch.setattr(verifier, "_entered", lambda *_: nullcontext())
    judge.bench, judge.entrants = SimpleNamespace(), SimpleNamespace()
    judge.aftermath = Aftermath(lambda: 0.0)
    judge.judge({"job": JOB.model_dump(mode="json"), "built": {}})
    judge.bench = judge.entrants = None
    copy_gbps(judge)
    assert judge.measured == 1 + again


class Side:
    """Blocks that take what they are told to."""

    def __init__(self, times):
        self.times = iter(times)

    def block(self):
        return next(self.times)


def test_one_burst_that_nothing_disturbed_is_enough(monkeypatch):
    slow, fast = [9.0] * ceiling.BLOCKS, [4.0] * ceiling.BLOCKS
    times = [30.0, *slow, *fast, *slow]
    monkeypatch.setattr(ceiling, "RingSide", lambda *_: Side(times))
    worker = SimpleNamespace(load=lambda *_: None, bind=lambda *_: None, close=lambda: None)
    assert ceiling._time("peaks.so", "copy", worker, None, {}, None) == 4.0
