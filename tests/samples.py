"""Records as a run leaves them, small enough to read."""

from __future__ import annotations

from pathlib import Path

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.records.evaluation import Build, Check, Evaluation, Sandbox
from kernelwright.records.job import BaselineTime, Session
from kernelwright.records.measurement import Comparison, Measurement, Roofline, Times
from kernelwright.records.outcome import Decision, Outcome
from kernelwright.records.run import Budget, Run, RunSpec, Spent
from kernelwright.records.rung import Rung
from kernelwright.records.session_control import SessionControl
from kernelwright.records.task import Case, Reference, Shaped, Task
from kernelwright.search.summary import Counts, RunSummary

VECTOR = Case(
    workload="w",
    device="cpu",
    inputs=(Shaped(name="x", shape=(64,), dtype="float32"),),
    outputs=(Shaped(name="y", shape=(64,), dtype="float32"),),
    scalars=(),
    axes={},
)
SOURCE = """// /// kernelwright
// strategy = "plain loop"
// tune.THREADS = [1, 2]
// flags = ["-ffast-math"]
// ///
#include <cstdint>
extern "C" int twice(const float* x, float* y, int64_t N) {
#pragma omp parallel for num_threads(THREADS)
  for (int64_t i = 0; i < N; ++i) y[i] = 2.0f * x[i];
  return 0;
}
"""


def task(**changes):
    fields = {
        "name": "twice",
        "entry": "twice",
        "summary": "Every element doubled",
        "axes": {"N": "free"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["N"]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": ["N"]}],
        "workloads": [
            {"name": "cpu-64", "device": "cpu", "role": "smoke", "axes": {"N": 64}},
            {"name": "cpu-4096", "device": "cpu", "role": "main", "axes": {"N": 4096}},
        ],
        "reference": Reference(
            kind="array", entry="twice", source="def twice(xp, x):\n    return 2 * x\n"
        ),
    }
    return Task.model_validate(fields | changes)


def candidate(**tunables):
    return make_candidate(SOURCE, "cpp", tunables or {"THREADS": 2}, origin="twice.cpp")


def comparison(baseline="numpy", ratio=2.0, workload="cpu-4096", decision=Decision.FASTER):
    return Comparison(
        baseline=baseline,
        workload=workload,
        ratio=ratio,
        low=ratio * 0.98,
        high=ratio * 1.02,
        decision=decision,
        margin=0.01,
        pairs=100,
        candidate_us=50.0,
        baseline_us=50.0 * ratio,
    )


def controls():
    planted = {"name": "planted slower", "verdict": "too noisy", "value": 0.9, "limit": 0.073}
    nothing = {"name": "no-op", "verdict": "held", "value": 0.8, "limit": 90.0}
    return (
        SessionControl(**planted, said="too noisy to tell 10%: margin 7.3%", seconds=0.5),
        SessionControl(**nothing, said="0.80 us", seconds=0.1),
    )


def evaluation(who, rung=Rung.CONFIRM, comparisons=None):
    times = Times(median=50.0, p20=49.0, p80=52.0, min=48.0, n=100)
    return Evaluation(
        candidate=who.id,
        rung=rung,
        outcome=Outcome.PASSED,
        evidence={"draws_random_numbers": True},
        checks=(
            Check(name="static", outcome=Outcome.PASSED, seconds=0.01),
            Check(name="smoke", outcome=Outcome.PASSED, seconds=0.2),
        ),
        measurements=(
            Measurement(workload="cpu-64", time_us=times, noop_us=0.7),
            Measurement(workload="cpu-4096", time_us=times, noop_us=0.7, clocks={"wall": 51.0}),
        ),
        comparisons=(comparison(), comparison("loop", 3.5)) if comparisons is None else comparisons,
        roofline=Roofline(floor_us=40.0, fraction=0.8, bound="bandwidth"),
        build=Build(
            seconds=0.3,
            compiler="g++ (Debian 12.2.0) 12.2.0",
            flags=("-O3", "-fopenmp", "-DTHREADS=2", "-shared", "-fPIC"),
        ),
        sandbox=Sandbox(active=("rlimits", "landlock"), unavailable=("pid namespace",)),
        environment={"device": "cpu: Test 9000", "python": "3.11.2"},
        controls=controls(),
        seconds=3.0,
        device_seconds=2.0,
    )


def rejected(who, rung=Rung.SCREEN, outcome=Outcome.WRONG_VALUES):
    return Evaluation(
        candidate=who.id,
        rung=rung,
        outcome=outcome,
        reason="output y differs from the reference by 3.2 tolerances",
        evidence={"worst": [1, 2]},
        checks=(Check(name="smoke", outcome=outcome, seconds=0.2),),
    )


def session():
    return Session(
        baselines=(
            BaselineTime(name="numpy", time_us={"cpu-4096": 100.0}),
            BaselineTime(name="loop", time_us={"cpu-4096": 175.0}),
            BaselineTime(name="eager", missing="torch is not installed"),
        ),
        strongest="numpy",
        bandwidth_gbps=10.0,
        rate_gflops=50.0,
        noop_us=0.7,
        environment={"device": "cpu: Test 9000"},
    )


def spec(**changes):
    fields = {"task": "0" * 64, "device": "cpu", "threads": 2, "budget": Budget(minutes=1.0)}
    return RunSpec(**fields | changes)


def summary(status="improved", *, won=True, folder=Path("/nowhere"), found=None, **changes):
    who = candidate()
    proof = evaluation(who) if found is None else found
    run = Run(
        id="r-20260101-abcd",
        spec=spec(),
        status=status,
        best=who.id if won else "",
        created="2026-01-01T00:00:00+00:00",
    )
    fields = {
        "run": run,
        "task": task(),
        "session": session(),
        "best": who if won else None,
        "confirmed": proof if won else None,
        "speedup": 2.0 if won else None,
        "reason": "no better candidate in 24 looks",
        "counts": Counts(
            drafted=9,
            built=8,
            measured=6,
            by_outcome={"passed": 6, "wrong_values": 2},
            by_rung={"draft": 9, "smoke": 8, "full": 2},
            copied=1,
            device_s_by_rung={"smoke": 1.0, "full": 3.0},
        ),
        "spent": Spent(wall_s=31.0, device_s=4.0, evaluations=10),
        "folder": folder,
    }
    return RunSummary(**fields | changes)


def write_task(folder, body, values="", size=64):
    """A task folder: one input, one output, one workload."""
    folder.mkdir()
    (folder / "task.toml").write_text(
        'name = "mine"\nentry = "mine"\n[axes]\nN = "free"\n'
        f'[[inputs]]\nname = "x"\nshape = ["N"]\ndtype = "float32"\n{values}'
        '[[outputs]]\nname = "y"\nshape = ["N"]\ndtype = "float32"\n'
        f'[[workloads]]\nname = "small"\ndevice = "cpu"\nrole = "main"\naxes = {{ N = {size} }}\n'
    )
    (folder / "reference.py").write_text(f"def mine(xp, x):\n    {body}\n")
