"""One evaluation in the form that others rely on."""

from typing import Any, Self

from pydantic import BaseModel

from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Build, Diagnosis, Evaluation
from kernelwright.records.measurement import Comparison, Measurement, Roofline, Times
from kernelwright.records.rung import Rung
from kernelwright.report import summary as report
from kernelwright.report import text
from kernelwright.verbs import base

ONLY_BUILT = "a draft is built and no more: nothing was run, and no result was checked"
"""What a draft that passed says, so that nobody takes it for a right answer."""


class CheckRow(BaseModel):
    """One check that was made."""

    name: str
    outcome: str
    seconds: float


class MeasurementRow(BaseModel):
    """How long the candidate took on one workload."""

    workload: str
    time_us: Times
    noop_us: float
    clocks: dict[str, float]

    @classmethod
    def of(cls, found: Measurement) -> "MeasurementRow":
        """The row of a record."""
        return cls(
            workload=found.workload,
            time_us=found.time_us,
            noop_us=found.noop_us,
            clocks=found.clocks,
        )


class ComparisonRow(BaseModel):
    """The candidate against one rival on one workload."""

    baseline: str
    workload: str
    ratio: float
    low: float
    high: float
    decision: str

    @classmethod
    def of(cls, found: Comparison) -> "ComparisonRow":
        """The row of a record."""
        return cls(
            baseline=found.baseline,
            workload=found.workload,
            ratio=found.ratio,
            low=found.low,
            high=found.high,
            decision=found.decision.value,
        )


class RooflineRow(BaseModel):
    """The least time this device could need."""

    floor_us: float
    fraction: float
    bound: str

    @classmethod
    def of(cls, found: Roofline | None) -> "RooflineRow | None":
        """The row of a record, if there is one."""
        if found is None:
            return None
        return cls(floor_us=found.floor_us, fraction=found.fraction, bound=found.bound)


class DiagnosisRow(BaseModel):
    """Why it takes the time it takes."""

    bottleneck: str
    metrics: dict[str, float]
    source: str

    @classmethod
    def of(cls, found: Diagnosis | None) -> "DiagnosisRow | None":
        """The row of a record, if there is one."""
        if found is None:
            return None
        return cls(bottleneck=found.bottleneck, metrics=found.metrics, source=found.source)


class BuildRow(BaseModel):
    """What the compiler said."""

    seconds: float
    registers: int
    spill_bytes: int
    shared_bytes: int

    @classmethod
    def of(cls, found: Build | None) -> "BuildRow | None":
        """The row of a record, if there is one."""
        if found is None:
            return None
        return cls(
            seconds=found.seconds,
            registers=found.registers,
            spill_bytes=found.spill_bytes,
            shared_bytes=found.shared_bytes,
        )


class SandboxRow(BaseModel):
    """Which layers of isolation were active."""

    active: tuple[str, ...]
    unavailable: tuple[str, ...]


class CandidateRow(BaseModel):
    """Which candidate it was."""

    id: str
    language: str
    fingerprint: str


class EnvironmentRow(BaseModel):
    """Where it ran."""

    device: str
    driver: str
    versions: dict[str, str]

    @classmethod
    def of(cls, found: dict[str, str]) -> "EnvironmentRow":
        """The row of an evaluation's environment."""
        rest = {name: value for name, value in found.items() if name not in ("device", "driver")}
        return cls(device=found.get("device", ""), driver=found.get("driver", ""), versions=rest)


class EvaluationAnswer(base.Answer):
    """The verdict on one candidate at one rung."""

    outcome: str
    reason: str
    evidence: dict[str, Any]
    checks: tuple[CheckRow, ...]
    rung: str
    measurement: MeasurementRow | None
    """Of the main workload."""
    comparisons: tuple[ComparisonRow, ...]
    roofline: RooflineRow | None
    diagnosis: DiagnosisRow | None
    build: BuildRow | None
    sandbox: SandboxRow
    candidate: CandidateRow
    environment: EnvironmentRow

    _evaluation: Evaluation
    _candidate: Candidate

    @classmethod
    def of(cls, candidate: Candidate, found: Evaluation, main: str = "") -> Self:
        """The answer that an evaluation gives.

        Args:
            candidate: the one that was judged.
            found: the verdict.
            main: name of the workload whose measurement is shown; by default the first measured.
        """
        chosen = [one for one in found.measurements if one.workload == main]
        measured = (*chosen, *found.measurements)
        answer = cls(
            outcome=found.outcome.value,
            reason=ONLY_BUILT if found.passed and found.rung is Rung.DRAFT else found.reason,
            evidence=base.plain(found.evidence),
            checks=tuple(
                CheckRow(name=one.name, outcome=one.outcome.value, seconds=one.seconds)
                for one in found.checks
            ),
            rung=found.rung.word,
            measurement=MeasurementRow.of(measured[0]) if measured else None,
            comparisons=tuple(map(ComparisonRow.of, found.comparisons)),
            roofline=RooflineRow.of(found.roofline),
            diagnosis=DiagnosisRow.of(found.diagnosis),
            build=BuildRow.of(found.build),
            sandbox=SandboxRow(active=found.sandbox.active, unavailable=found.sandbox.unavailable),
            candidate=CandidateRow(
                id=candidate.id,
                language=candidate.language,
                fingerprint=candidate.fingerprint,
            ),
            environment=EnvironmentRow.of(found.environment),
        )
        answer._evaluation = found
        answer._candidate = candidate
        return answer

    @property
    def evaluation(self) -> Evaluation:
        """The whole record."""
        return self._evaluation

    def exit_code(self) -> int:
        """0 passed, 3 rejected."""
        return 0 if self._evaluation.passed else 3

    def text(self) -> str:
        """Outcome, checks, comparisons, evidence."""
        found = self._evaluation
        who = f"({self.candidate.language}, {self.candidate.id})"
        outcome = f"{self.outcome} at {self.rung}"
        head = [f"outcome    {'built, not run' if self.reason == ONLY_BUILT else outcome}"]
        head += [f"reason     {self.reason}"] if self.reason else []
        head.append(f"candidate  {report.strategy(self._candidate)} {who}")
        if self.measurement:
            times = self.measurement.time_us
            head.append(
                f"time       {text.duration(times.median)} on {self.measurement.workload} "
                f"(p20 {text.duration(times.p20)}, p80 {text.duration(times.p80)}, n {times.n})"
            )
        checks = [(one.name, one.outcome, f"{one.seconds:.2f}") for one in self.checks]
        parts = [
            "\n".join(head),
            self._log(),
            text.table(("check", "outcome", "s"), checks, right="  r") if checks else "",
            report.comparisons(found.comparisons),
            report.evidence(found, checks=False),
        ]
        return "\n\n".join(filter(None, parts))

    def notes(self) -> list[str]:
        """What to do about a rejection, where the judge knows."""
        hint = self._evaluation.evidence.get("hint")
        if self.reason == ONLY_BUILT:
            hint = "--rung smoke makes the first call and compares its results"
        return [f"hint: {hint}"] if hint else []

    def _log(self) -> str:
        build = self._evaluation.build
        log = build.log.strip() if build and not self._evaluation.passed else ""
        return text.indent("\n".join(log.splitlines()[:20]))
