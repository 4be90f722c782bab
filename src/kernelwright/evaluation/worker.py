"""Handles on the processes that run kernels: one candidate, or one rival, and then no more.

A handle turns whatever its process does - answering, dying, hanging, talking nonsense - into a
reply or a :class:`Finding`. It never trusts a number beyond its type and sign.
"""

import math
import secrets
import time
from collections.abc import Mapping
from typing import Any

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation import report
from kernelwright.evaluation.census import Census, Manners
from kernelwright.evaluation.channel import (
    GO,
    STAND_DOWN,
    Channel,
    ChannelError,
    ChannelMixed,
    ChannelTimeout,
)
from kernelwright.evaluation.ending import Process, death, silence
from kernelwright.evaluation.memory import oom_kills
from kernelwright.evaluation.report import Ran, refusal
from kernelwright.evaluation.ring import Ring
from kernelwright.records.evaluation import Sandbox
from kernelwright.records.outcome import Outcome

START_SECONDS = 60.0


class Worker:
    """One worker process behind a channel.

    Args:
        process: the started process; the handle kills it on close.
        channel: our end of its socket.
        label: used in reasons, for example ``the candidate``.
    """

    def __init__(self, process: Process, channel: Channel, label: str = "the candidate") -> None:
        self.process = process
        self.channel = channel
        self.label = label
        self.sandbox = Sandbox()
        self.labels: dict[str, Any] = {}
        """What is worth telling about a candidate that passes."""
        self.until = math.inf
        """Monotonic time after which it gets no more of it, whatever one answer may take."""
        self._oom_kills = oom_kills()
        self._census: Census | None = None
        self._ring = -1
        self._token, self._slots = b"", list[int]()
        self._armed_ns = self._went_ns = self._earlier_ns = 0
        self._float_mode: object = None
        self._float_mode_now: object = None
        self._manners: Manners | None = None
        self.locked = self.alone = False
        """Whether it can be bound no more; whether it is ended where it starts a process."""
        self.armed_for: object = None
        """Whose block it is ready to run; None while it waits for a request."""

    @property
    def census(self) -> Census:
        """What the kernel says of the process, once it is up."""
        if self._census is None:
            self._census = Census(self.process.pid)
        return self._census

    def ready(self, timeout: float = START_SECONDS) -> None:
        """Wait until the process is up.

        Raises:
            Rejected: it died or stayed silent.
        """
        try:
            self.channel.message(timeout)
        except ChannelTimeout:
            raise Rejected(silence(self.process, self.label, timeout)) from None
        except ChannelError as problem:
            raise Rejected(self._death(str(problem))) from None
        self._manners = self.census.manners()

    def load(self, message: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Load the library or the rival that ``message`` names.

        Returns:
            What the process says of it; untrusted.

        Raises:
            Rejected: ``signature_error`` for a missing symbol, ``build_error`` if it cannot be
                loaded, ``crashed`` or ``timeout`` if a constructor does that.
        """
        answer = self._ask({"do": "load", **message}, timeout)
        self._float_mode = answer.get("float_mode")
        return answer

    def bind(self, ring: Ring, timeout: float, more: Mapping[str, Any] | None = None) -> None:
        """Let the worker map what ``ring`` holds and prepare the calls of every slot."""
        for name, arena in (ring.arenas() if ring.number != self._ring else {}).items():
            message = {"do": "open", "arena": name, **arena.wire()}
            self._ask(message, timeout, (arena.descriptor,))
        self._ring = ring.number
        self._ask({"do": "bind", "slots": ring.arguments(), **(more or {})}, timeout)

    def lock(self, timeout: float) -> None:
        """Take away what is needed to build and not to run, until it is bound anew: never, here."""

    def beside_us(self, ring: Ring) -> float:
        """What it does beside each call on ``ring``, uncounted, in time that the verifier sees."""
        return 0.0

    def again_watched(self, slots: list[int], timeout: float) -> None:
        """Find out whether timed calls use what others may not, where its process can tell."""

    def watch(self) -> None:
        """Find out in the next run what the candidate calls, where its process can tell."""

    def run(self, slots: list[int], timeout: float) -> Ran:
        """Call the kernel once for each slot, in order; see :meth:`go`."""
        self.arm(slots, timeout, self)
        return self.go(timeout)

    def arm(
        self,
        slots: list[int],
        timeout: float,
        whose: object,
        *,
        handicap: float = 0.0,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """Let the worker prepare a block of calls, and wait for the word.

        Before the contents of the block exist, so that until the word there is nothing to do for
        it, and what it does all the same is seen.

        Args:
            slots: which argument sets.
            timeout: seconds.
            whose: who will give the word.
            handicap: share of its own time by which a trusted worker prolongs every call.
            more: what else its kind of worker is told.

        Raises:
            Rejected: the process crashed, hung or answered nonsense.
        """
        self._token, self._slots = secrets.token_bytes(8), slots
        # Later than the report: the kernel counts what runs on another core when it stops.
        self._earlier_ns = max(self.census.cpu_ns() - self._went_ns, 0) if self._went_ns else 0
        order = {"do": "run", "slots": slots, "token": self._token.hex(), **(more or {})}
        answer = self._ask({**order, "handicap": round(1000 * handicap)}, timeout)
        self._float_mode_now = answer.get("float_mode")
        self.armed_for = whose
        self._armed_ns = self.census.cpu_ns()

    def go(self, timeout: float) -> Ran:
        """Give the word and wait for the report.

        Args:
            timeout: seconds that all of it may take.

        Raises:
            Rejected: the process crashed, hung, answered nonsense, or the kernel returned a
                code other than 0.
        """
        token, slots = self._token, self._slots
        self.armed_for = None
        self._went_ns = before = self.census.cpu_ns()
        started = time.perf_counter_ns()
        told = self._told(report.size(len(slots)), timeout)
        wall = time.perf_counter_ns() - started
        used = max(self.census.cpu_ns() - before, 0)
        idle = max(before - self._armed_ns, 0)
        read = report.parse(told, token, len(slots))
        if read is None:
            raise Rejected(self._refused() if report.is_fault(told) else self._forgery())
        ns = report.believable(self.label, *read, wall)
        return Ran(ns, wall, used, idle, self._earlier_ns)

    def _told(self, size: int, timeout: float) -> bytes:
        allowed = min(timeout, self.until - time.monotonic())
        try:
            self.channel.raw(GO)
            return self.channel.report(size, max(allowed, 0.0))
        except ChannelTimeout:
            raise Rejected(
                silence(self.process, self.label, timeout, whole=allowed < timeout)
            ) from None
        except ChannelError as problem:
            raise Rejected(self._death(str(problem))) from None

    def _refused(self) -> Finding:
        """Why a block ended without a report: the explanation follows it."""
        try:
            return refusal(self.label, self.channel.message(START_SECONDS))
        except ChannelError as problem:
            return self._death(str(problem))

    def left_behind(self) -> Finding | None:
        """What calls of the candidate left that outlives them: processes, settings of its own."""
        return self.census.left(self._manners, self.label) or self._float_finding()

    def _float_finding(self) -> Finding | None:
        if self._float_mode_now == self._float_mode or self._float_mode is None:
            return None
        reason = f"{self.label} left another rounding mode, or denormals flushed to zero"
        evidence = {"before": str(self._float_mode)[:40], "after": str(self._float_mode_now)[:40]}
        return Finding(Outcome.STATE_MUTATED, reason, evidence)

    def close(self) -> None:
        """Kill the process and close the channel."""
        self.process.kill()
        self.channel.close()

    def _ask(
        self, message: dict[str, Any], timeout: float, fds: tuple[int, ...] = ()
    ) -> dict[str, Any]:
        allowed = min(timeout, self.until - time.monotonic())
        self._went_ns = 0
        try:
            if self.armed_for is not None:
                self.armed_for = None
                self.channel.raw(STAND_DOWN)
            answer = self.channel.ask(message, max(allowed, 0.0), fds)
        except ChannelTimeout:
            raise Rejected(
                silence(self.process, self.label, timeout, whole=allowed < timeout)
            ) from None
        except ChannelMixed:
            raise Rejected(self._forgery()) from None
        except ChannelError as problem:
            raise Rejected(self._death(str(problem))) from None
        if "error" in answer:
            raise Rejected(refusal(self.label, answer))
        return answer

    def _ask_aside(self, message: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Ask between two blocks; the time that one thread may need to answer is not late work."""
        went, began, before = self._went_ns, time.perf_counter_ns(), self.census.cpu_ns()
        answer = self._ask(message, timeout)
        used, passed = self.census.cpu_ns() - before, time.perf_counter_ns() - began
        self._went_ns = went and went + min(max(used, 0), passed)
        return answer

    def _forgery(self) -> Finding:
        self.process.kill()
        return Finding(Outcome.TAMPERING, f"{self.label} sent a forged report")

    def _death(self, problem: str = "") -> Finding:
        return death(self.process, self.label, problem, self._oom_kills, alone=self.alone)
