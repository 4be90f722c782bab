"""What a check that fails has to say."""

from dataclasses import dataclass, field
from typing import Any

from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Case


@dataclass(frozen=True)
class Finding:
    """One reason to reject, with the evidence for it."""

    outcome: Outcome
    reason: str
    evidence: dict[str, Any] = field(default_factory=dict)


class Rejected(Exception):
    """Ends the judging of one candidate; a value to the caller, never shown as a traceback."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.reason)
        self.finding = finding


def located(finding: Finding, case: Case) -> Finding:
    """The finding with the case at which it was made in its evidence."""
    where = {"workload": case.workload, "axes": case.axes}
    if case.note:
        where["note"] = case.note
    return Finding(finding.outcome, finding.reason, {**finding.evidence, **where})
