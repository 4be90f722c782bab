"""The evaluation: one candidate's outcome, time and diagnosis at one rung."""

from typing import Any

from pydantic import Field, model_validator

from kernelwright.records.base import Record
from kernelwright.records.conditions import Conditions
from kernelwright.records.measurement import Comparison, Measurement, Roofline
from kernelwright.records.outcome import Outcome
from kernelwright.records.rung import Rung
from kernelwright.records.session_control import SessionControl

QUARANTINED = "quarantined"
"""Label of a pass whose time cannot be: only a confirm may say so, and nothing else relies on it.
"""


class Check(Record):
    """One check that was made."""

    name: str
    outcome: Outcome
    seconds: float


class KernelFacts(Record):
    """What the assembler said of one kernel of a GPU; all sizes are bytes, registers a thread's."""

    name: str
    """As the library has it, mangled."""
    registers: int
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0
    shared_bytes: int = 0
    """Of a block; only what is fixed when it is built."""
    stack_bytes: int = 0


class Build(Record):
    """What the compiler said; sizes are 0 where the language has none."""

    seconds: float
    cached: bool = False
    binary: str = ""
    """SHA-256 of the built library: two candidates with one binary are one measurement."""
    compiler: str = ""
    flags: tuple[str, ...] = ()
    registers: int = 0
    """Of one thread; this and the next two are of the largest of ``kernels``, each by itself."""
    spill_bytes: int = 0
    """Stores and loads together."""
    shared_bytes: int = 0
    kernels: tuple[KernelFacts, ...] = ()
    """Filled where kernels are built for a GPU."""
    log: str = ""
    vectorised: int = 0
    """Loops that the compiler reports as vectorised."""


class Diagnosis(Record):
    """Why it takes the time it takes."""

    bottleneck: str
    metrics: dict[str, float] = {}
    source: str
    """Where the metrics come from."""


class Sandbox(Record):
    """Which layers of isolation were active."""

    active: tuple[str, ...] = ()
    unavailable: tuple[str, ...] = ()


class Evaluation(Record):
    """The verdict on one candidate at one rung."""

    candidate: str
    rung: Rung
    outcome: Outcome
    reason: str = ""
    evidence: dict[str, Any] = {}
    checks: tuple[Check, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    roofline: Roofline | None = None
    diagnosis: Diagnosis | None = None
    """None while nobody profiles kernels."""
    build: Build | None = None
    sandbox: Sandbox = Sandbox()
    environment: dict[str, str] = {}
    conditions: Conditions | None = None
    """Of the machine while it was judged; None where that was not watched."""
    controls: tuple[SessionControl, ...] = ()
    """What the judge showed of itself in the session of this look; empty where none were run."""
    seconds: float = Field(default=0.0, ge=0)
    """Wall time that this evaluation took."""
    device_seconds: float = Field(default=0.0, ge=0)
    """Time for which it held the device."""
    seed: int = 0
    copied_from: str = ""
    """Candidate with the same binary whose measurement this is."""

    @property
    def passed(self) -> bool:
        """Whether every check of the rung passed."""
        return self.outcome is Outcome.PASSED

    @property
    def quarantined(self) -> bool:
        """Whether it passed with a time that no right kernel can have."""
        return self.passed and QUARANTINED in self.evidence

    @model_validator(mode="after")
    def _no_time_without_a_pass(self) -> "Evaluation":
        if not self.passed and (self.measurements or self.comparisons):
            raise ValueError("an evaluation that did not pass cannot carry a time")
        return self
