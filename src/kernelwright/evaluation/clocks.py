"""Three clocks on the calls of one worker: its own, the verifier's, and the kernel's.

The worker's own is the precise one, and a claim. The verifier's includes waking the worker and
reading its report; the kernel counts processor time, also while nothing was asked.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.devices import detect
from kernelwright.evaluation.report import Ran
from kernelwright.records.outcome import Outcome

SLACK_US = 300.0
SHARE = 0.02
"""What the verifier may see of a block beyond what the worker claims: waking up and reporting."""
IDLE_US = 300.0
"""Processor time that a worker may use while it waits for the word to begin a block."""
IDLE_FREE_US = 20.0
"""Of that, what costs nothing; more is charged to the block, for which it may have worked."""
LATE_US = 500.0
LATE_CALL_US = 25.0
LATE_SHARE = 0.05
"""On each core, processor time of a block, and of each of its calls, beyond the time that the
worker claims: starting and ending, and waking threads."""
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
    late: list[float] = field(default_factory=list)
    """A block, of processor time until the next was asked for, beyond what may be; below 0 where
    none was. Only of blocks after which no other buffers were prepared."""
    excess: list[float] = field(default_factory=list)
    """A block: the verifier's clock minus the worker's."""
    allowed: list[float] = field(default_factory=list)
    """A block: what that may be."""
    cores: int = field(default_factory=detect.cores)
    """That a worker's threads may use."""
    _may_us: float = 0.0
    """What the block before may have used."""

    def add(self, ran: Ran, call_slack_us: float = 0.0) -> float:
        """A block ended; mean microseconds a call that can be believed of its worker.

        Its own, unless the verifier saw more than asking and reporting explain, with what it
        worked before the word and too late after the report: a worker that lies in some of its
        blocks is honest in the others, and no quantile of them shows it.

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
        beside = max(self.idle[-1] - IDLE_FREE_US, 0.0)
        if ran.earlier_ns and self._may_us:
            self.late.append(ran.earlier_ns / 1e3 - self._may_us)
            beside += max(self.late[-1], 0.0)
        each = LATE_CALL_US + call_slack_us
        self._may_us = self.cores * ((1 + LATE_SHARE) * claimed + LATE_US + each * calls)
        self.excess.append(wall - claimed)
        self.allowed.append(SLACK_US + call_slack_us * calls + SHARE * claimed)
        return (max(claimed, wall - self.allowed[-1]) + beside) / calls

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

    def check(self, asking: Callable[[], float] = lambda: 0.0) -> None:
        """Compare the clocks.

        Args:
            asking: what asking for a block takes at present, in microseconds; called in doubt. A
                machine on which that is more than usual may take as much more of every block.

        Raises:
            Rejected: they disagree by more than asking and reporting explain, or the worker worked
                before anything was asked of it or beyond the time that it claims.
        """
        found = self.medians()
        if (over := self.beyond_us) > 0 and (over := over - max(asking() - SLACK_US, 0.0)) > 0:
            worker, wall = found["worker"], found["wall"]
            reason = f"the worker claims {worker:.4g} us a call, the verifier saw {wall:.4g} us"
            evidence = {"worker_us": worker, "wall_us": wall, "beyond_allowed_us": over}
            raise Rejected(Finding(Outcome.CLOCK_DISAGREEMENT, reason, evidence))
        if found["idle"] > IDLE_US:
            reason = (
                f"the worker used {found['idle']:.4g} us of processor time before each block, when "
                "nothing had been asked of it yet"
            )
            raise Rejected(Finding(Outcome.DEFERRED_WORK, reason, {"idle_us": found["idle"]}))
        if self.late and (late := float(np.median(self.late))) > 0:
            reason = (
                f"the worker used {late:.4g} us of processor time a block more than its calls, "
                "which claim so little, can have used on all cores"
            )
            raise Rejected(Finding(Outcome.DEFERRED_WORK, reason, {"late_us": late}))
