"""Parts of answers: a record in the form that others rely on, what is internal left out."""

from pydantic import BaseModel

from kernelwright.records.conditions import Conditions
from kernelwright.records.evaluation import Build, Diagnosis, Evaluation, Sandbox
from kernelwright.records.job import Session
from kernelwright.records.measurement import Comparison, Measurement, Roofline, Times
from kernelwright.records.session_control import SessionControl


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
    margin: float
    """Smallest relative difference that was called faster or slower."""
    pairs: int
    candidate_us: float
    baseline_us: float

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
            margin=found.margin,
            pairs=found.pairs,
            candidate_us=found.candidate_us,
            baseline_us=found.baseline_us,
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


class KernelRow(BaseModel):
    """What one kernel takes of a GPU: registers of a thread, bytes of everything else."""

    name: str
    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    shared_bytes: int
    stack_bytes: int


class BuildRow(BaseModel):
    """What the compiler said; of several kernels, the largest of each size."""

    seconds: float
    registers: int
    spill_bytes: int
    shared_bytes: int
    kernels: tuple[KernelRow, ...]

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
            kernels=tuple(KernelRow(**one.model_dump()) for one in found.kernels),
        )


class SandboxRow(BaseModel):
    """Which layers of isolation were active."""

    active: tuple[str, ...]
    unavailable: tuple[str, ...]

    @classmethod
    def of(cls, found: Sandbox) -> "SandboxRow":
        """The row of a record."""
        return cls(active=found.active, unavailable=found.unavailable)


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


class CircumstancesRow(BaseModel):
    """Under which circumstances something was measured."""

    machine: Conditions | None
    """What else the machine did; None where that was not watched."""
    sandbox: SandboxRow | None
    """What confined the candidate; None where only baselines were timed."""
    environment: EnvironmentRow
    controls: tuple[SessionControl, ...]
    """What the judge showed of itself in that session; empty where none were run."""

    @classmethod
    def of(cls, found: Evaluation | Session | None) -> "CircumstancesRow | None":
        """The row of a look, or of the opening of a session, if there was one."""
        if found is None:
            return None
        confined = SandboxRow.of(found.sandbox) if isinstance(found, Evaluation) else None
        return cls(
            machine=found.conditions,
            sandbox=confined,
            environment=EnvironmentRow.of(found.environment),
            controls=found.controls or (),
        )
