"""Everything trusted that judging one task on this machine needs, made ready once a session.

Oracle, rivals, buffers, the flush, the noise of this session. Refuses to open when the reference
does not work: a task that cannot be answered cannot be judged.
"""

import math
from pathlib import Path

from kernelwright.devices import detect
from kernelwright.devices.measured import Peaks
from kernelwright.errors import PrerequisiteError
from kernelwright.evaluation.admission import admitted
from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.block import calls_a_block
from kernelwright.evaluation.cases import on_cpu
from kernelwright.evaluation.compulsory import Compulsory, floor
from kernelwright.evaluation.first_times import Unusable, first_times
from kernelwright.evaluation.flush import Flush
from kernelwright.evaluation.noise import measure_noise
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.ring import Ring
from kernelwright.evaluation.ring_inputs import Inputs
from kernelwright.evaluation.rival_side import RivalSide
from kernelwright.evaluation.rivals import Rivals
from kernelwright.evaluation.session_controls import Nothing, prove
from kernelwright.evaluation.sides import RingSide
from kernelwright.evaluation.twins import twins
from kernelwright.evaluation.worker import Worker
from kernelwright.records.job import BaselineTime, Session
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.session_control import SessionControl
from kernelwright.records.task import Case, Task
from kernelwright.timing.statistics import Noise

BLOCK_SECONDS = 120.0
ANSWER_SECONDS = 600.0
"""What the reference may take to answer, all questions of a session's opening, or of a look."""


class Bench:
    """The trusted side of judging one task.

    Args:
        task: what is judged.
        oracle: started and loaded with the task.
        rivals: the baselines.
        peaks: what this processor can do.
        flush: empties the caches.
        threads: how many the kernels use.
        secret: seed of everything drawn.
    """

    def __init__(
        self,
        task: Task,
        oracle: Oracle,
        rivals: Rivals,
        peaks: Peaks,
        flush: Flush,
        threads: int,
        secret: int,
    ) -> None:
        self.task = task
        self.oracle = oracle
        self.rivals = rivals
        self.peaks = peaks
        self.threads = threads
        self.answers = Answers(task, oracle, secret)
        self.flush = flush
        self.cases = on_cpu(task)
        self.times: dict[str, dict[str, float]] = {}
        self.missing: dict[str, str] = {}
        self.noises: dict[str, Noise] = {}
        """Of the baselines that candidates were compared with."""
        self.controls: dict[str, tuple[SessionControl, ...]] = {}
        """By the same baselines; empty if the session was opened without."""
        self.compulsory = Compulsory(self.answers, peaks)
        self.strongest = ""
        self.noop_us = 0.0
        self.sensitivity: Sensitivity | None = None
        self._rings: dict[tuple[str, str], Ring] = {}
        self._inputs, self._slots = dict[str, Inputs](), dict[str, int]()
        self.nothing: Nothing | None = None

    def open(
        self, wanted: tuple[str, ...], known: Sensitivity | None = None, noop: Path | None = None
    ) -> Session:
        """Check the reference and the task, time the baselines named, measure the noise.

        Args:
            wanted: names of baselines.
            known: what the task's comparison was seen to tell apart, if that was seen before.
            noop: a library that does nothing, for the controls; None: they are left out.

        Raises:
            InsensitiveTask: the task's own comparison would accept a wrong answer.
            ControlError: a control failed twice.
            TaskError: the reference does not work.
            PrerequisiteError: no baseline can be run.
        """
        self.oracle.left = ANSWER_SECONDS
        self.nothing = Nothing(noop, self.cases.smoke) if noop else None
        self.sensitivity = admitted(self.answers, self.cases, known)
        changed = {"tolerance": self.sensitivity.tolerance}
        self.task = self.answers.task = self.task.model_copy(update=changed)
        for case in (self.cases.smoke, *self.cases.timed):
            self.answers.base(case)
        for name, reason in self.rivals.possible().items():
            if reason:
                self.missing[name] = reason
            elif name not in wanted:
                self.missing[name] = "not asked for at this rung"
            else:
                self._time(name)
        if not self.times:
            why = "; ".join(f"{name}: {reason}" for name, reason in self.missing.items())
            hint = "install torch, or give the task a baseline.cpp"
            raise PrerequisiteError(f"no baseline can be run ({why})", hint)
        self._settle_slots()
        self.strongest = min(self.times, key=self._overall)
        self.against("")
        return self.session()

    def against(self, name: str) -> str:
        """The baseline to compare with, its noise known: the one named, or else the strongest.

        Raises:
            ControlError: a control failed twice with it.
            PrerequisiteError: it cannot be had here.
            TaskError: it broke.
        """
        name = name or self.strongest
        if name not in self.times:
            why = self.missing.get(name, "nobody knows it")
            raise PrerequisiteError(f"there is no baseline {name} here: {why}")
        if name not in self.noises:
            with twins(self, name, self.cases.timed[0]) as more:
                found = measure_noise(more)
                if self.nothing is not None:
                    self.controls[name] = prove(more, found, self.nothing)
            self.noises[name] = found
        return name

    def session(self) -> Session:
        """The record of what was found out."""
        floors = {one.workload: floor(self.task, one, self.peaks) for one in self.cases.timed}
        return Session(
            baselines=tuple(
                BaselineTime(
                    name=name,
                    time_us=self.times.get(name, {}),
                    missing=self.missing.get(name, ""),
                )
                for name in (*self.times, *self.missing)
            ),
            strongest=self.strongest,
            bandwidth_gbps=self.peaks.copy_gbps,
            rate_gflops=self.peaks.rate_gflops,
            noop_us=self.noop_us,
            environment=detect.describe(self.threads),
            floor_us={name: floor.us for name, floor in floors.items()},
            bound={name: floor.bound for name, floor in floors.items()},
            sensitivity=self.sensitivity,
            controls=self.controls.get(self.strongest),
        )

    def ring(self, case: Case, owner: str = "candidate") -> Ring:
        """The buffers for timing one workload, of the candidate or of the rival.

        Both read the same sealed inputs.
        """
        key = (case.workload, owner)
        if key not in self._rings:
            if case.workload not in self._inputs:
                slots, draws = self._slots.get(case.workload, 1), self.answers.draws(case)
                self._inputs[case.workload] = Inputs(case, slots, sealed=True, draws=draws)
                self._inputs[case.workload].fill(self.answers.base(case).contents)
            self._rings[key] = Ring(self._inputs[case.workload])
        return self._rings[key]

    def move(self, case: Case, owners: tuple[str, ...] = ("candidate", "rival")) -> None:
        """Buffers elsewhere for timing one workload; the old ones go once the new ones exist."""
        keys = [(case.workload, owner) for owner in owners]
        old = [self._rings.pop(key, None) for key in keys]
        read = self._inputs.pop(case.workload, None)
        for _, owner in keys:
            self.ring(case, owner)
        for gone in (*old, read):
            if gone is not None:
                gone.close()

    def private(self, case: Case, *, sealed: bool = False) -> Ring:
        """The buffers for correctness on one workload."""
        key = (case.workload, "sealed" if sealed else "private")
        if key not in self._rings:
            self._rings[key] = Ring.private(case, sealed=sealed, rows=sealed)
        return self._rings[key]

    def forget_buffers(self) -> None:
        """Drop what a rejected candidate could write; the next one gets clean buffers."""
        for key in [key for key in self._rings if key[1] != "rival"]:
            (ring := self._rings.pop(key)).close()
            if key[1] in ("private", "sealed"):
                ring.inputs.close()

    def side(self, worker: Worker, ring: Ring, secret: int) -> RingSide:
        """A side of ours for a trusted worker bound to ``ring``."""
        base = self.answers.base(ring.case).contents
        ring.inputs.fill(base)
        return RingSide(worker, ring, base, secret, self.flush, BLOCK_SECONDS)

    def rival_side(self, name: str, case: Case, secret: int) -> RingSide:
        """A side that runs baseline ``name``.

        Raises:
            Rejected: the baseline cannot be run.
        """
        ring, base = self.ring(case, "rival"), self.answers.base(case).contents
        ring.inputs.fill(base)
        usual = (self.rivals.worker(name, ring), ring, base, secret, self.flush, BLOCK_SECONDS)
        return RivalSide(*usual, rivals=self.rivals, name=name)

    def deadline(self, case: Case) -> float:
        """Seconds one call of a candidate may take: a hundred times the baseline, at least 10."""
        return max(10.0, 100 * self._fastest(case) / 1e6)

    def close(self) -> None:
        """End all processes and give the memory back."""
        self.rivals.close()
        self.oracle.close()
        for ring in self._rings.values():
            ring.close()
            ring.inputs.close()

    def _time(self, name: str) -> None:
        try:
            self.times[name] = first_times(self, name, self.cases)
        except Unusable as problem:
            self.missing[name] = str(problem)

    def _settle_slots(self) -> None:
        """Calls a block, by the fastest baseline: a candidate may be faster still."""
        for case in (*self.cases.timed, self.cases.smoke):
            call_us, nbytes = self._fastest(case), self.ring(case, "rival").nbytes
            self._slots[case.workload] = calls_a_block(call_us, nbytes)
            self.move(case)

    def _fastest(self, case: Case) -> float:
        known = (one[case.workload] for one in self.times.values() if case.workload in one)
        return min(known, default=0.0)

    def _overall(self, name: str) -> float:
        """Sum of log times over the timed workloads: orders baselines by geometric mean."""
        return sum(math.log(self.times[name][case.workload]) for case in self.cases.timed)
