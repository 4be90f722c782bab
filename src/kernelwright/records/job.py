"""Jobs: what an executor is asked to do, in full, so that it needs no store."""

from typing import Literal

from kernelwright.records.base import Record
from kernelwright.records.candidate import Candidate
from kernelwright.records.conditions import Conditions
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.rung import RungPlan
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.session_control import SessionControl
from kernelwright.records.task import Task


class JudgeJob(Record):
    """Judge one candidate at one rung (``draft`` builds it and touches no device)."""

    number: int
    """Chosen by the caller; comes back with the answer."""
    task: Task
    candidate: Candidate
    plan: RungPlan
    seed: int
    threads: int
    sandbox: Literal["auto", "require", "off"] = "auto"
    keep_samples: bool = False
    against: str = ""
    """Baseline to compare with; empty: the session's strongest."""
    rival: Candidate | None = None
    """Another candidate, known to be right, that is timed in the place of a baseline."""
    time_s: float | None = None
    """Wall seconds in which an answer is wanted: timing ends early, as undecided if it must."""


class Completion(Record):
    """The answer to a job."""

    number: int
    evaluation: Evaluation


class BaselineTime(Record):
    """One rival of the candidates, timed once at the start of a session."""

    name: str
    """``loop``, ``numpy``, ``eager``, ``fused``, ``compile``."""
    time_us: dict[str, float] = {}
    """Median by workload; empty if it could not be run."""
    missing: str = ""
    """Why it could not be run."""


class Session(Record):
    """What an executor found out before the first candidate."""

    baselines: tuple[BaselineTime, ...]
    strongest: str
    bandwidth_gbps: float
    rate_gflops: float
    noop_us: float
    environment: dict[str, str]
    sensitivity: Sensitivity | None = None
    """What the task's comparison was seen to tell apart."""
    floor_us: dict[str, float] = {}
    """Roofline floor by workload."""
    bound: dict[str, str] = {}
    confirm_s: float = 0.0
    """Seconds that a confirm is expected to take before its first look: fresh processes, every
    baseline."""
    conditions: Conditions | None = None
    """Of the machine while the baselines were timed."""
    controls: tuple[SessionControl, ...] | None = None
    """What the judge showed of itself, with the strongest baseline; None where nobody asked."""
