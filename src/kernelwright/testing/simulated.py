"""A made-up task, kernels that differ in made-up ways, and a device that knows how fast they are.

For tests of whatever proposes, chooses or schedules: no compiler, no device, no waiting. The
speed of a candidate is a smooth function of its tunables and differs between structures, so a
search has something to find; noise shrinks with the number of pairs, as on a real device.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.proposers.base import seed_from
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Build, Evaluation
from kernelwright.records.job import BaselineTime, JudgeJob, Session
from kernelwright.records.measurement import Comparison, Measurement, Times
from kernelwright.records.outcome import Decision, Outcome
from kernelwright.records.rung import Rung
from kernelwright.records.task import Reference, Task, Tensor, Workload
from kernelwright.search.simulation import Simulation

MARGIN = 0.01
BASELINE_US = {"tiny": 10.0, "large": 1000.0, "wide": 1500.0}
SECONDS = {
    Rung.DRAFT: 1.0,
    Rung.SMOKE: 0.02,
    Rung.SCREEN: 0.2,
    Rung.FULL: 2.0,
    Rung.CONFIRM: 3.0,
}
_TIMED = {"none": (), "smoke": ("tiny",), "main": ("large",), "all": ("large", "wide")}
_SOURCE = """\
// /// kernelwright
// strategy = "structure {name}"
// tune.BLOCK = [1, 2, 4, 8, 16]
// tune.UNROLL = [1, 2, 3, 4]
// where = ["BLOCK * UNROLL <= 32"]
// ///
extern "C" int kernel_{name}() {{ return 0; }}
"""


@dataclass(frozen=True)
class Truth:
    """How a candidate really behaves."""

    speedup: float = 1.0
    outcome: Outcome = Outcome.PASSED
    fails_at: Rung = Rung.DRAFT
    """First rung whose checks find the fault, if there is one."""
    binary: str = ""
    """Same text, same binary; empty: its own."""
    seconds: dict[Rung, float] = field(default_factory=dict)
    """How long its jobs take, where that differs from the usual."""


def made_up_task(name: str = "made-up") -> Task:
    """A task with a smoke, a main and an extra workload on the CPU."""
    tensor = {"shape": ("N",), "dtype": "float32"}
    workloads = [("tiny", "smoke", 64), ("large", "main", 1 << 20), ("wide", "extra", 1 << 21)]
    return Task(
        name=name,
        entry="kernel",
        axes={"N": "free"},
        inputs=(Tensor(name="x", **tensor),),  # type: ignore[arg-type]
        outputs=(Tensor(name="y", **tensor),),  # type: ignore[arg-type]
        workloads=tuple(
            Workload(name=label, device="cpu", role=role, axes={"N": extent})  # type: ignore[arg-type]
            for label, role, extent in workloads
        ),
        reference=Reference(kind="array", entry="kernel", source=""),
    )


def made_up_candidates(count: int) -> list[Candidate]:
    """That many structures, at their default numbers; each has 18 valid points."""
    return [
        make_candidate(_SOURCE.format(name=f"s{at}"), "cpp", {"BLOCK": 1, "UNROLL": 1})
        for at in range(count)
    ]


def smooth_truth(candidate: Candidate) -> Truth:
    """Speedups between about 0.3 and 3: one peak a structure, structures of unlike height."""
    chance = random.Random(seed_from(candidate.source))
    height, block, unroll = chance.uniform(-0.5, 1.0), chance.uniform(0, 4), chance.uniform(1, 4)
    away = (math.log2(float(candidate.tunables.get("BLOCK", 1))) - block) / 4
    aside = (float(candidate.tunables.get("UNROLL", 1)) - unroll) / 3
    return Truth(speedup=math.exp(height - away * away - aside * aside / 2))


class SimulatedExecutor(Simulation):
    """A device that knows the truth, seen through noise."""

    def __init__(
        self,
        truth: Callable[[Candidate], Truth] = smooth_truth,
        *,
        noise: float = 0.05,
        drafts: int = 1,
        looks: int = 1,
        floor_us: dict[str, float] | None = None,
    ) -> None:
        """Begin at time 0.

        Args:
            truth: what each candidate is like.
            noise: standard deviation of one pair's log-ratio.
            drafts: builds at a time.
            looks: looks at a time.
            floor_us: roofline floors to report.
        """
        super().__init__(drafts=drafts, looks=looks)
        self._truth, self._noise, self._floor_us = truth, noise, floor_us or {}
        self.judged: list[tuple[int, str, Rung]] = []
        """Number, candidate and rung of every job submitted."""

    def session(self, task: Task) -> Session:
        """One baseline, ``loop``."""
        return Session(
            baselines=(BaselineTime(name="loop", time_us=BASELINE_US),),
            strongest="loop",
            bandwidth_gbps=10.0,
            rate_gflops=100.0,
            noop_us=0.1,
            environment={"device": "simulated"},
            floor_us=self._floor_us,
        )

    def judge(self, job: JudgeJob) -> Evaluation:
        """The truth at the fidelity of the job's plan."""
        candidate, rung = job.candidate, job.plan.rung
        self.judged.append((job.number, candidate.id, rung))
        truth = self._truth(candidate)
        seconds = truth.seconds.get(rung, SECONDS[rung])
        cost: dict[str, Any] = {
            "seconds": seconds,
            "device_seconds": 0.0 if rung is Rung.DRAFT else seconds,
        }
        if truth.outcome is not Outcome.PASSED and rung >= truth.fails_at:
            return Evaluation(
                candidate=candidate.id, rung=rung, outcome=truth.outcome, reason="made up", **cost
            )
        build = Build(seconds=seconds, binary=truth.binary or candidate.id)
        timed = [self._timed(name, truth, job) for name in _TIMED[job.plan.workloads]]
        return Evaluation(
            candidate=candidate.id,
            rung=rung,
            outcome=Outcome.PASSED,
            build=build,
            measurements=tuple(measurement for measurement, _ in timed),
            comparisons=tuple(comparison for _, comparison in timed),
            seed=job.seed,
            **cost,
        )

    def _timed(self, workload: str, truth: Truth, job: JudgeJob) -> tuple[Measurement, Comparison]:
        chance = random.Random(seed_from(job.seed, job.candidate.id, workload))
        pairs = job.plan.looks[-1]
        samples: Sequence[float] = ()
        log, wide = math.log(truth.speedup), self._noise / math.sqrt(pairs)
        seen = chance.gauss(log, wide)
        if job.keep_samples:
            samples = tuple(seen + chance.gauss(0, self._noise) for _ in range(pairs))
        low, high = math.exp(seen - 2.5 * wide), math.exp(seen + 2.5 * wide)
        baseline_us = BASELINE_US[workload]
        median = baseline_us / math.exp(seen)
        times = Times(median=median, p20=median * 0.98, p80=median * 1.02, min=median, n=pairs)
        comparison = Comparison(
            baseline="loop",
            workload=workload,
            ratio=math.exp(seen),
            low=low,
            high=high,
            decision=_decide(low, high),
            margin=MARGIN,
            pairs=pairs,
            candidate_us=median,
            baseline_us=baseline_us,
            samples=tuple(samples),
        )
        kept = tuple(baseline_us / math.exp(sample) for sample in samples)
        return (
            Measurement(workload=workload, time_us=times, noop_us=0.1, samples_us=kept),
            comparison,
        )


def _decide(low: float, high: float) -> Decision:
    if low > 1 + MARGIN:
        return Decision.FASTER
    if high < 1 - MARGIN:
        return Decision.SLOWER
    inside = low >= 1 - MARGIN and high <= 1 + MARGIN
    return Decision.SAME if inside else Decision.UNDECIDED
