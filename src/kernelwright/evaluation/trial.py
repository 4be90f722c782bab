"""One candidate on trial: its worker, and rings it is bound to one after another.

A trial owns its worker process and never revives it: a candidate that kills its worker has had
its verdict.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from kernelwright.checks.answer import Answer
from kernelwright.checks.correctness import Compared
from kernelwright.checks.finding import Finding, Rejected, located
from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.arena import Array
from kernelwright.evaluation.crashes import by_access, cause
from kernelwright.evaluation.hearing import hear, late
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.evaluation.ring import POISONS, Ring
from kernelwright.evaluation.worker import Worker
from kernelwright.records.evaluation import Check
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Case, Task

LEAST_DEADLINE = 10.0
REMEMBERED_BYTES = 1 << 20
NEAREST = "nearest_to_limit"
CHECK_SECONDS = 300.0
"""What the checks of one candidate may take at one rung, all calls together."""
WHOLE_SECONDS = 780.0
"""What one candidate may take at one rung, timed calls included; less than its executor waits."""
WRONG = (Outcome.WRONG_VALUES, Outcome.NOT_FINITE)
"""Outcomes for which a stage knows a better one, which says why values are wrong."""


class Trial:
    """The process and the bookkeeping of one candidate.

    Args:
        task: what it should compute.
        worker: a fresh worker, ready.
        answers: inputs and right outputs.
        deadline: seconds one call may take.
        settle: gives a fresh worker with the candidate loaded, to find out why the first one
            crashed; None: that is not asked.
    """

    def __init__(
        self,
        task: Task,
        worker: Worker,
        answers: Answers,
        deadline: float,
        settle: Callable[[], Worker] | None = None,
    ) -> None:
        self.task = task
        self.worker = worker
        self.answers = answers
        self.deadline = max(deadline, LEAST_DEADLINE)
        self.settle = settle
        self.checks: list[Check] = []
        self.labels: dict[str, Any] = {}
        self._bound: Ring | None = None
        self.stable: set[str] = set()
        """Hostile questions that were answered right."""
        self._right: set[str] = set()
        """Workloads on which a call was right."""
        self._given: dict[tuple[str, bytes], Question] = {}
        """Small outputs that were right, by name and digest, and what had been asked."""
        self._until = time.monotonic() + CHECK_SECONDS
        worker.until = time.monotonic() + WHOLE_SECONDS

    def move(self, worker: Worker) -> None:
        """Go on in another process, in which the candidate is loaded already."""
        worker.until = self.worker.until
        self.worker.close()
        self.worker = worker
        self._bound = None

    def allow(self, seconds: float) -> None:
        """Give the checks so much from now on at least; calls were timed in between."""
        self._until = max(self._until, time.monotonic() + seconds)

    def load(self, message: dict[str, Any]) -> None:
        """Let the worker load what ``message`` names."""
        self.worker.load(message, self.deadline)
        self.worker.watch()

    @contextmanager
    def check(self, name: str) -> Iterator[None]:
        """Record how long the check in the body took and how it ended."""
        started = time.monotonic()
        outcome = Outcome.PASSED
        try:
            yield
        except Rejected as rejection:
            outcome = rejection.finding.outcome
            raise
        finally:
            self.checks.append(
                Check(name=name, outcome=outcome, seconds=time.monotonic() - started)
            )

    @contextmanager
    def where_defined(self, name: str) -> Iterator[None]:
        """Skip a case on which the reference is undefined; the verdict names it.

        Another failure of the reference is let through: it says nothing of the case.
        """
        try:
            yield
        except ReferenceFailure as failure:
            if not failure.undefined:
                raise
            self._undefined(name, failure.reason)

    def _undefined(self, name: str, reason: str) -> None:
        self.labels.setdefault("reference_undefined", {})[name] = reason

    def _name_undecided(self, question: Question) -> None:
        """Say which outputs are not compared, as honest evaluations of them disagree."""
        case = question.case
        for answer in question.answers:
            if answer.undecided:
                where = f"{case.workload}, {case.note}" if case.note else case.workload
                share = f"{answer.doubts.share:.1%} of its elements"
                reason = f"honest evaluations of output {answer.name} disagree at {share}"
                self._undefined(f"{where}, {answer.name}", reason)

    def bind(self, ring: Ring) -> None:
        """Let the worker's calls go to ``ring``."""
        if self._bound is ring:
            return
        if self.worker.locked and self.settle is not None:
            self.move(self.settle())
        self.worker.bind(ring, self.deadline)
        self._bound = ring

    def call(self, ring: Ring, contents: Mapping[str, Array], pattern: int) -> None:
        """One call on slot 0 with ``contents``; outputs stay in the ring.

        Raises:
            Rejected: the call failed, or wrote where it must not.
        """
        ring.inputs.fill(contents)
        self.again(ring, pattern)

    def again(self, ring: Ring, pattern: int) -> None:
        """One more call on what slot 0 holds; raises as :meth:`call` does."""
        if time.monotonic() > self._until:
            reason = "the checks together took longer than they may"
            raise Rejected(Finding(Outcome.TIMEOUT, reason))
        self.bind(ring)
        ring.poison(0, pattern)
        self.worker.run([0], self.deadline)
        if found := ring.trespass(0) or self.worker.left_behind():
            raise Rejected(found)
        self.labels |= self.worker.labels

    def correct(
        self,
        question: Question,
        *,
        ring: Ring | None = None,
        blame: Callable[[Finding], Finding] = lambda finding: finding,
        pattern: int | None = None,
    ) -> None:
        """Call once and compare every output.

        Args:
            question: contents and right outputs; undecided ones are not compared, but named.
            ring: reuse these buffers; a small ring of its own otherwise.
            blame: turns a finding on values into the outcome of the calling stage.
            pattern: of the poison; None: that of the stage.

        Raises:
            Rejected: with the reason.
        """
        own = ring or Ring.private(question.case, sealed=True)
        if pattern is None:
            pattern = POISONS[len(self.checks) % 2]
        try:
            self.call(own, question.contents, pattern)
            self._name_undecided(question)
            for name in question.compared:
                got = own.output(0, name)
                heard = hear(self.answers, question, name, got, self.task.tolerance, pattern)
                if finding := heard.compared.finding:
                    if deferred := late(heard, own.output(0, name), self.task.tolerance):
                        raise Rejected(deferred)
                    known = ring and self._stale(own, question, finding, name)
                    raise Rejected(known or blame(finding))
                self.note(question.case, heard.answer, heard.compared)
            self._remember(own, question)
        except Rejected as rejection:
            found = rejection.finding
            if own.inputs.sealed and by_access(found):
                found = cause(self, question) or found
            raise Rejected(located(found, question.case)) from None
        finally:
            if ring is None:
                self.discard(own)

    def discard(self, ring: Ring) -> None:
        """Give a ring back, its inputs too."""
        self._bound = None
        ring.close()
        ring.inputs.close()

    def _remember(self, ring: Ring, question: Question) -> None:
        self._right.add(question.case.workload)
        for item in question.case.outputs:
            if key := _key(item.name, ring.output(0, item.name)):
                self._given.setdefault(key, question)

    def _stale(self, ring: Ring, question: Question, found: Finding, name: str) -> Finding | None:
        """That a wrong output is that of another call, or was written in others only."""
        if found.evidence.get("never_written") and question.case.workload in self._right:
            reason = f"output {name} was written in earlier calls and not in this one"
            return Finding(Outcome.STALE_OR_CACHED_OUTPUT, reason, found.evidence)
        key = _key(name, ring.output(0, name))
        if key is None or self._given.get(key, question) is question:
            return None
        reason = f"output {name} is that of an earlier call, which had other inputs"
        return Finding(Outcome.STALE_OR_CACHED_OUTPUT, reason, {"output": name})

    def note(self, case: Case, answer: Answer, compared: Compared) -> None:
        """Remember the output that came nearest to what is allowed, as a label of a pass."""
        nearest = self.labels.get(NEAREST)
        if answer.exact or (nearest and nearest["share"] >= compared.share):
            return
        self.labels[NEAREST] = {
            "share": compared.share,
            "output": answer.name,
            "workload": case.workload,
            "note": case.note,
            "worst_tile": list(compared.tile),
        }


def _key(name: str, output: Array) -> tuple[str, bytes] | None:
    """What a small output is known by; None for a large one, which takes long to read."""
    if not 0 < output.nbytes <= REMEMBERED_BYTES:
        return None
    return name, hashlib.blake2b(np.ascontiguousarray(output).tobytes(), digest_size=16).digest()
