"""Three clocks on the calls of one worker: its own, the verifier's, and the kernel's.

The worker's own is the precise one, and a claim. The verifier's includes waking the worker and
reading its report; the kernel counts processor time, also while nothing was asked.
"""

from dataclasses import dataclass, field

import numpy as np

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.report import Ran
from kernelwright.records.outcome import Outcome

SLACK_US = 300.0
SHARE = 0.02
"""What the verifier may see of a block beyond what the worker claims: waking up and reporting."""
IDLE_US = 300.0
"""Processor time that a worker may use while it waits for the word to begin a block."""
BETWEEN_US = 1000.0
BETWEEN_CALL_US = 50.0
"""Processor time that it may use from a report until it is armed again: it makes the calls of the
next block ready."""
LOW = 0.1
"""On a busy machine a worker may wait to be woken in most blocks, whereas work that is hidden from
its clock is there in all: a low quantile of the blocks tells them apart."""
ENOUGH = 60
"""Blocks after which a low quantile is no accident."""


@dataclass
class Clocks:
    """What was seen of all blocks of one comparison, in microseconds."""

    claimed: list[float] = field(default_factory=list)
    """A call, by the worker's clock."""
    wall: list[float] = field(default_factory=list)
    """A call, by the verifier's."""
    cpu: list[float] = field(default_factory=list)
    """A call, of processor time."""
    idle: list[float] = field(default_factory=list)
    """A block, of processor time while the worker was to wait for the word."""
    between: list[float] = field(default_factory=list)
    """A block, of processor time from the report of the block before until it was armed."""
    calls: list[int] = field(default_factory=list)
    """Of a block."""
    excess: list[float] = field(default_factory=list)
    """A block: the verifier's clock minus the worker's."""
    allowed: list[float] = field(default_factory=list)

    def add(self, ran: Ran, call_slack_us: float = 0.0) -> float:
        """A block ended; the worker's mean microseconds a call.

        Args:
            ran: what was seen.
            call_slack_us: what its kind of worker does beside each call, uncounted.
        """
        calls = len(ran.ns)
        claimed, wall = sum(ran.ns) / 1e3, ran.wall_ns / 1e3
        self.claimed.append(claimed / calls)
        self.wall.append(wall / calls)
        self.cpu.append(ran.cpu_ns / calls / 1e3)
        self.idle.append(ran.idle_ns / 1e3)
        self.between.append(ran.between_ns / 1e3)
        self.calls.append(calls)
        self.excess.append(wall - claimed)
        self.allowed.append(SLACK_US + call_slack_us * calls + SHARE * claimed)
        return self.claimed[-1]

    def medians(self) -> dict[str, float]:
        """By each clock; ``idle`` is by block."""
        kinds = {"worker": self.claimed, "wall": self.wall, "cpu": self.cpu, "idle": self.idle}
        return {name: float(np.median(values)) for name, values in kinds.items()}

    @property
    def beyond_us(self) -> float:
        """By how much the verifier saw more of a block than it may, at the low quantile."""
        return float(np.quantile(np.subtract(self.excess, self.allowed), LOW))

    @property
    def doubtful(self) -> bool:
        """Whether more blocks would tell hidden work from a busy machine."""
        return bool(self.excess) and len(self.excess) < ENOUGH and self.beyond_us > 0

    def check(self) -> None:
        """Compare the clocks.

        Raises:
            Rejected: they disagree by more than asking and reporting explain, or the worker worked
                before anything was asked of it.
        """
        found = self.medians()
        if (over := self.beyond_us) > 0:
            worker, wall = found["worker"], found["wall"]
            reason = f"the worker claims {worker:.4g} us a call, the verifier saw {wall:.4g} us"
            evidence = {"worker_us": worker, "wall_us": wall, "beyond_allowed_us": over}
            raise Rejected(Finding(Outcome.CLOCK_DISAGREEMENT, reason, evidence))
        late = float(np.median(self.between)) - BETWEEN_US
        if found["idle"] > IDLE_US or late > BETWEEN_CALL_US * float(np.median(self.calls)):
            idle = found["idle"] if found["idle"] > IDLE_US else late + BETWEEN_US
            reason = (
                f"the worker used {idle:.4g} us of processor time between blocks, when nothing "
                "was asked of it"
            )
            raise Rejected(Finding(Outcome.DEFERRED_WORK, reason, {"idle_us": idle}))
