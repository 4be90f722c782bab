"""What a check that fails has to say."""

from dataclasses import dataclass, field
from typing import Any

from kernelwright.records.outcome import Outcome


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
