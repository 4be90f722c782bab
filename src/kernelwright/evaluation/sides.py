"""One side of a timed pair: a worker, its ring, and what the verifier looks at after a block."""

import random
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kernelwright.checks.answer import Answer
from kernelwright.checks.correctness import Compared, judge
from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.arena import Array
from kernelwright.evaluation.clocks import Clocks
from kernelwright.evaluation.hearing import hear, late
from kernelwright.evaluation.resemblance import Resemblance
from kernelwright.evaluation.ring import POISONS, Ring
from kernelwright.evaluation.worker import Worker
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Case, Tolerance

PARTIAL = 0.25
"""Share of the blocks in which not every slot is called."""
SPARSE = 0.1
"""Share of the blocks in which few elements change; they are validated, always."""
MOST_RESEMBLING = 40
"""Results that are validated because they look like others: some tasks have many alike."""
LARGE, PIECES = 1 << 18, 64
"""Bytes from which copying an output takes long, and into how many parts it is copied then."""
DOUBT_SECONDS = 5.0
"""How long blocks are repeated when the clocks of a few disagree."""
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
        handicap: share by which a trusted worker prolongs its calls.
    """

    def __init__(
        self,
        worker: Worker,
        ring: Ring,
        base: Mapping[str, Array],
        secret: int,
        flush: Callable[[], None],
        deadline: float,
        handicap: float = 0.0,
    ) -> None:
        self.worker = worker
        self.ring = ring
        self.base = base
        self.secret = secret
        self.flush = flush
        self.deadline = deadline
        self.handicap = handicap
        self.blocks = 0
        self.clocks = Clocks()
        self._beside_us = 0.0 if self.trusted else worker.beside_us(ring)
        self.order: list[int] = []
        """Slots of the present block, in the order of their calls."""

    trusted = True
    """Whether its worker's own clock is believed whatever the verifier saw."""
    more: Mapping[str, Any] | None = None
    """What its worker is told beside the calls."""

    def ready(self) -> None:
        """Arm the worker for the next block, before the contents of that block exist."""
        if self.worker.armed_for is not self:
            self.order = _order(self.ring.slots, self.secret, self.blocks)
            self.worker.arm(self.order, self.deadline, self, handicap=self.handicap, more=self.more)

    def block(self) -> float:
        """Call slots once each on fresh contents, in a drawn order; mean microseconds a call.

        The mean, not the median: a call that does the work of all others gains nothing.
        """
        self.ready()
        sparse = _sparse(self.secret, self.blocks)
        self.ring.inputs.freshen(self.blocks, self.base, self.secret, sparse=sparse)
        for slot in range(self.ring.slots):
            self.ring.poison(slot, POISONS[(self.blocks + slot) % 2])
        self.flush()
        ran = self.worker.go(self.deadline)
        believed_us = self.clocks.add(ran, self._beside_us)
        self.after()
        self.blocks += 1
        return self.clocks.claimed[-1] if self.trusted else believed_us

    def skip(self) -> None:
        """Let a block pass, so that the next has the number that the other sides give it."""
        self.blocks += 1

    def after(self) -> None:
        """Hook between blocks; a rival of ours is not inspected."""


def _order(slots: int, secret: int, block: int) -> list[int]:
    """The slots of a block in a drawn order, now and then not all of them.

    Both sides of a pair have the same. Whoever does the work of a call in another call is found
    out when that other one is not made.
    """
    dice = random.Random(f"{secret}/{block}")
    order = list(range(slots))
    dice.shuffle(order)
    whole = slots == 1 or dice.random() >= PARTIAL
    return order if whole else order[: dice.randint(1, slots - 1)]


def _sparse(secret: int, block: int) -> bool:
    """Whether a block has nearly the contents of the one before; both sides of a pair agree."""
    return block > 0 and random.Random(f"{secret}/{block}/sparse").random() < SPARSE


class CandidateSide(RingSide):
    """The candidate's side: some timed calls, chosen after they ran, are validated."""

    trusted = False

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
        self._resemblance = Resemblance(self._dice.random())
        self._resembling = 0

    def after(self) -> None:
        """Look at every slot for trespass, and at one output of a chosen block."""
        chosen = self.blocks in self._surely or self._dice.random() < self._share
        chosen = chosen or _sparse(self.secret, self.blocks)
        # The last call has nobody after it who could finish its work.
        slot = self.order[-1] if self._dice.random() < 0.5 else self._dice.choice(self.order)
        for one in self.order:
            if self.ring.seems_untouched(one, self._dice.random()):
                slot, chosen = one, True
        alike = self._resemblance.look(self.ring, self.order)
        if alike is not None and self._resembling < MOST_RESEMBLING:
            self._resembling += 1
            slot, chosen = alike, True
        # Taken at once: what is written from now on was not done in the measured time.
        outputs = self._snapshot(slot) if chosen else {}
        for one in range(self.ring.slots):
            if found := self.ring.trespass(one) or self._uncalled(one):
                raise Rejected(found)
        if found := self.worker.left_behind():
            raise Rejected(found)
        if chosen:
            self._inspect(slot, outputs)

    def finish(self) -> None:
        """Make up for calls that were to be looked at but never ran, and settle doubts."""
        until = time.monotonic() + DOUBT_SECONDS
        while self.clocks.doubtful and time.monotonic() < until:
            self.block()
        for slot in self.order[: max(self._least - self.inspected, 0)]:
            self._inspect(slot, self._snapshot(slot))
        self.worker.again_watched(self.order, self.deadline)

    def _uncalled(self, slot: int) -> Finding | None:
        """That the outputs of a call that was not made were written all the same."""
        if slot in self.order or self.ring.untouched(slot):
            return None
        evidence = {"slot": slot, "called": self.order}
        answers = self._answers.answer(
            self.ring.case, self.ring.inputs.contents(slot), known=self.ring.case.workload
        )
        for answer in answers:
            got = self.ring.output(slot, answer.name)
            if judge(got, answer, self._tolerance, self.ring.poisons[slot]):
                reason = "outputs were written after the call that they belong to had returned"
                return Finding(Outcome.DEFERRED_WORK, reason, evidence)
        reason = "outputs were written by no call of their own: in another, or late by an earlier"
        return Finding(Outcome.OUT_OF_BOUNDS, reason, evidence)

    def _snapshot(self, slot: int) -> dict[str, Array]:
        names = [item.name for item in self.ring.case.outputs]
        return {name: _copied(self.ring.output(slot, name), self._dice) for name in names}

    def _inspect(self, slot: int, outputs: Mapping[str, Array]) -> None:
        case = self.ring.case
        self.inspected += 1
        contents = self.ring.inputs.contents(slot)
        question = self._answers.timed(case, contents)
        # Of contents of this kind honest evaluations were made once, for the workload.
        for name in self._answers.base(case).compared:
            got, poison = outputs[name], self.ring.poisons[slot]
            heard = hear(self._answers, question, name, got, self._tolerance, poison)
            finding = heard.compared.finding
            if finding is None:
                self._note(case, heard.answer, heard.compared)
            else:
                if deferred := late(heard, self.ring.output(slot, name), self._tolerance):
                    raise Rejected(deferred)
                reason = f"a timed call was wrong though earlier ones were right: {finding.reason}"
                evidence = {**finding.evidence, "block": self.blocks, "slot": slot}
                raise Rejected(Finding(Outcome.STALE_OR_CACHED_OUTPUT, reason, evidence))


def _copied(output: Array, dice: random.Random) -> Array:
    """A copy made in an order that nobody can know, ahead of which no late work can stay."""
    if output.nbytes < LARGE:
        return output.copy()
    found = np.empty(output.shape, output.dtype)
    axis = int(np.argmax(output.shape))
    into, parts = np.moveaxis(found, axis, 0), np.moveaxis(output, axis, 0)
    step = -(-parts.shape[0] // PIECES)
    starts = list(range(0, parts.shape[0], step))
    dice.shuffle(starts)
    for start in starts:
        into[start : start + step] = parts[start : start + step]
    return found
