"""What a task's own comparison was seen to tell apart, and the policy by which results are judged.

A task is *insensitive* when its comparison accepts an answer that is wrong; nothing can be scored
on it. The record is made once for a task and kept: it holds no seed and no candidate.
"""

from typing import Literal

from kernelwright.records.base import Record
from kernelwright.records.task import Determinism, LowerType, Task, Tolerance

VERSION = 3
"""Of the controls: a record of another version is made anew."""
Verdict = Literal["rejected", "accepted", "right", "not_tried"]


class Control(Record):
    """One wrong answer, and what the comparison said to it."""

    name: str
    of: str
    """The output that it stands in for; for controls of the inputs, the input or scalar."""
    verdict: Verdict
    """``rejected`` as it must be; ``accepted``: the comparison cannot tell; ``right``: it is the
    right answer here; ``not_tried``: there was no time."""
    tolerances: float | None = None
    """How many tolerances it is off; None where no number says it."""
    note: str = ""


class Sensed(Record):
    """Every control at one workload."""

    workload: str
    controls: tuple[Control, ...]
    seconds: float


class Sensitivity(Record):
    """The verdict on one task."""

    version: int = VERSION
    workloads: tuple[Sensed, ...]
    tolerance: Tolerance
    """The one to use."""
    tightened_from: Tolerance | None = None
    """The task's own, where it let a control pass."""
    reason: str = ""
    """Why the task cannot be scored; empty if it can."""
    hint: str = ""

    @property
    def refused(self) -> bool:
        """Whether the task is insensitive."""
        return bool(self.reason)

    @property
    def accepted(self) -> tuple[tuple[str, Control], ...]:
        """Controls that passed although they are wrong, with their workloads."""
        return tuple(
            (one.workload, control)
            for one in self.workloads
            for control in one.controls
            if control.verdict == "accepted"
        )


class Policy(Record):
    """How exact a result must be; printed beside every result."""

    precision: tuple[LowerType, ...]
    """Lower types in which a candidate may compute."""
    determinism: Determinism
    tolerance: Tolerance
    tightened_from: Tolerance | None = None


def policy_of(task: Task, found: Sensitivity | None) -> Policy:
    """The policy by which candidates of ``task`` are judged.

    Args:
        task: whose policy.
        found: what its comparison was seen to tell apart, if that is known.
    """
    return Policy(
        precision=task.precision,
        determinism=task.determinism,
        tolerance=found.tolerance if found else task.tolerance,
        tightened_from=found.tightened_from if found else None,
    )
