"""One side of a timed pair: a worker, its ring, and what the verifier looks at after a block."""

import random
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kernelwright.checks.answer import Answer
from kernelwright.checks.correctness import Compared, compare, judge
from kernelwright.checks.finding import Finding, Rejected
from kernelwright.errors import JudgeError
from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.arena import Array
from kernelwright.evaluation.ring import POISONS, Ring
from kernelwright.evaluation.worker import Worker
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Case, Tolerance

CLOCK_SLACK_US = 150.0
CLOCK_SHARE = 0.25
LATE_SECONDS = 0.1
"""How long a wrong output is given to become right, which tells deferred work from wrong work."""
Note = Callable[[Case, Answer, Compared], None]


class RingSide:
    """Runs blocks of calls, each call on contents of its own.

    Args:
        worker: a worker bound to ``ring``.
        ring: the argument sets, one for each call of a block.
        base: contents from which fresh ones are made.
        secret: seed of the fresh contents; both sides of a pair have the same.
        flush: empties the caches.
        deadline: seconds a block may take.
    """

    def __init__(
        self,
        worker: Worker,
        ring: Ring,
        base: Mapping[str, Array],
        secret: int,
        flush: Callable[[], None],
        deadline: float,
    ) -> None:
        self.worker = worker
        self.ring = ring
        self.base = base
        self.secret = secret
        self.flush = flush
        self.deadline = deadline
        self.blocks = 0
        self.wall_us: list[float] = []
        self.claimed_us: list[float] = []

    def block(self) -> float:
        """Run every slot once on fresh contents, in a drawn order; mean microseconds a call.

        The mean, not the median: a call that does the work of all others gains nothing.
        """
        self.ring.inputs.freshen(self.blocks, self.base, self.secret)
        for slot in range(self.ring.slots):
            self.ring.poison(slot, POISONS[(self.blocks + slot) % 2])
        self.flush()
        order = list(range(self.ring.slots))
        random.shuffle(order)
        ran = self.worker.run(order, self.deadline)
        self.wall_us.append(ran.wall_ns / self.ring.slots / 1e3)
        self.claimed_us.append(sum(ran.ns) / self.ring.slots / 1e3)
        self.after()
        self.blocks += 1
        return self.claimed_us[-1]

    def after(self) -> None:
        """Hook between blocks; a rival of ours is not inspected."""

    @property
    def excess_us(self) -> float:
        """Microseconds a call that the verifier saw beyond what the worker claims.

        The lower quartile of the blocks: on a busy machine a worker may wait to be woken in
        most of them, whereas work that is hidden from the worker's clock is there in all.
        """
        return float(np.quantile(np.subtract(self.wall_us, self.claimed_us), 0.25))

    def clocks(self, rival: "RingSide") -> dict[str, float]:
        """Median microseconds a call by each clock.

        Args:
            rival: the trusted other side, which was asked under the same conditions.

        Raises:
            Rejected: the two clocks disagree by more than the price of asking explains.
        """
        worker, wall = float(np.median(self.claimed_us)), float(np.median(self.wall_us))
        allowed = CLOCK_SLACK_US / self.ring.slots + 3 * rival.excess_us + CLOCK_SHARE * worker
        if self.excess_us > allowed:
            reason = f"the worker claims {worker:.4g} us a call, the verifier saw {wall:.4g} us"
            evidence = {
                "worker_us": worker,
                "wall_us": wall,
                "excess_us": self.excess_us,
                "allowed_excess_us": allowed,
            }
            raise Rejected(Finding(Outcome.CLOCK_DISAGREEMENT, reason, evidence))
        return {"worker": worker, "wall": wall}


class RivalSide(RingSide):
    """A baseline's side: what breaks here is never the candidate's fault.

    Args:
        drop: forgets the broken worker, so that the next comparison starts another.
    """

    def __init__(self, *arguments: Any, drop: Callable[[], None]) -> None:
        super().__init__(*arguments)
        self._drop = drop

    def block(self) -> float:
        """As for any side.

        Raises:
            JudgeError: the baseline broke.
        """
        try:
            return super().block()
        except Rejected as rejection:
            self._drop()
            hint = "a baseline must not fail after it was timed; run it by itself"
            raise JudgeError(rejection.finding.reason, hint) from rejection


class CandidateSide(RingSide):
    """The candidate's side: some timed calls, chosen after they ran, are validated."""

    def inspect(
        self,
        answers: Answers,
        tolerance: Tolerance,
        share: float,
        least: int,
        blocks: int,
        note: Note,
    ) -> None:
        """Validate from now on.

        Args:
            answers: asked about the contents of the chosen calls.
            tolerance: the task's.
            share: probability with which a block is looked at.
            least: fewest calls looked at.
            blocks: number of blocks that will most likely run.
            note: told of every output that passed.
        """
        self._answers, self._tolerance, self._note = answers, tolerance, note
        self._share, self._least = share, least
        self._dice = random.Random(answers.seed("inspect", self.secret))
        self._surely = set(self._dice.sample(range(blocks), min(least, blocks)))
        self.inspected = 0

    def after(self) -> None:
        """Look at every slot for trespass, and at one output of a chosen block."""
        chosen = self.blocks in self._surely or self._dice.random() < self._share
        slot = self._dice.randrange(self.ring.slots)
        # Taken at once: what is written from now on was not done in the measured time.
        outputs = self._snapshot(slot) if chosen else {}
        for one in range(self.ring.slots):
            if found := self.ring.trespass(one):
                raise Rejected(found)
        if chosen:
            self._inspect(slot, outputs)

    def finish(self) -> None:
        """Make up for calls that were to be looked at but never ran."""
        for slot in range(min(self.ring.slots, self._least - self.inspected)):
            self._inspect(slot, self._snapshot(slot))

    def _snapshot(self, slot: int) -> dict[str, Array]:
        case = self.ring.case
        return {item.name: self.ring.output(slot, item.name).copy() for item in case.outputs}

    def _inspect(self, slot: int, outputs: Mapping[str, Array]) -> None:
        case = self.ring.case
        self.inspected += 1
        contents = self.ring.inputs.contents(slot)
        for answer in self._answers.answer(case, contents, known=case.workload):
            poison = self.ring.poisons[slot]
            compared = compare(outputs[answer.name], answer, self._tolerance, poison)
            finding = compared.finding
            if finding is None:
                self._note(case, answer, compared)
            else:
                time.sleep(LATE_SECONDS)
                late = self.ring.output(slot, answer.name)
                if judge(late, answer, self._tolerance, poison) is None:
                    reason = "the output was right only some time after the call had returned"
                    raise Rejected(Finding(Outcome.DEFERRED_WORK, reason, finding.evidence))
                reason = f"a timed call was wrong though earlier ones were right: {finding.reason}"
                evidence = {**finding.evidence, "block": self.blocks, "slot": slot}
                raise Rejected(Finding(Outcome.STALE_OR_CACHED_OUTPUT, reason, evidence))
