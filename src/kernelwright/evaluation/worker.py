"""Handles on the processes that run kernels: one candidate, or one rival, and then no more.

A handle turns whatever its process does - answering, dying, hanging, talking nonsense - into a
reply or a :class:`Finding`. It never trusts a number beyond its type and sign.
"""

import math
import os
import signal
import time
from dataclasses import dataclass
from typing import Any, Protocol

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.channel import Channel, ChannelError, ChannelMixed, ChannelTimeout
from kernelwright.evaluation.guarded import signal_name
from kernelwright.evaluation.memory import oom_kills
from kernelwright.evaluation.ring import Ring
from kernelwright.records.evaluation import Sandbox
from kernelwright.records.outcome import Outcome

START_SECONDS = 60.0


@dataclass(frozen=True)
class Ran:
    """What a worker claims of one block of calls, and what the verifier saw of it."""

    ns: tuple[int, ...]
    """The worker's own nanoseconds, call by call: a claim."""
    wall_ns: int
    """From sending the order to holding the answer, by the verifier's clock."""


class Process(Protocol):
    """The part of a started process that a handle needs."""

    @property
    def pid(self) -> int:
        """Identity of the process."""

    def poll(self) -> int | None:
        """Exit code (negative: a signal), or None while it runs."""

    def kill(self) -> None:
        """End it and everything it started."""

    def tail(self, size: int = 2000) -> str:
        """Last part of what it printed."""


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
        self.until = math.inf
        """Monotonic time after which it gets no more of it, whatever one answer may take."""
        self._oom_kills = oom_kills()

    def ready(self, timeout: float = START_SECONDS) -> None:
        """Wait until the process is up.

        Raises:
            Rejected: it died or stayed silent.
        """
        try:
            _, descriptors = self.channel.receive(timeout)
        except ChannelTimeout:
            raise Rejected(self._silence(timeout)) from None
        except ChannelError as problem:
            raise Rejected(self._death(str(problem))) from None
        for descriptor in descriptors:
            os.close(descriptor)

    def load(self, message: dict[str, Any], timeout: float) -> None:
        """Load the library or the rival that ``message`` names.

        Raises:
            Rejected: ``signature_error`` for a missing symbol, ``build_error`` if it cannot be
                loaded, ``crashed`` or ``timeout`` if a constructor does that.
        """
        self._ask({"do": "load", **message}, timeout)

    def bind(self, ring: Ring, timeout: float) -> None:
        """Let the worker map what ``ring`` holds and prepare the calls of every slot."""
        for name, arena in ring.arenas().items():
            message = {
                "do": "open",
                "arena": name,
                "nbytes": arena.nbytes,
                "writable": arena.writable,
            }
            self._ask(message, timeout, (arena.descriptor,))
        self._ask({"do": "bind", "slots": ring.arguments()}, timeout)

    def run(self, slots: list[int], timeout: float) -> Ran:
        """Call the kernel once for each slot, in order.

        Raises:
            Rejected: the process crashed, hung, answered nonsense, or the kernel returned a
                code other than 0.
        """
        started = time.perf_counter_ns()
        answer = self._ask({"do": "run", "slots": slots}, timeout)
        wall = time.perf_counter_ns() - started
        ns, codes = _integers(answer.get("ns"), slots), _integers(answer.get("codes"), slots)
        if ns is None or codes is None:
            raise Rejected(self._forgery())
        failed = [code for code in codes if code != 0]
        if failed:
            reason = f"{self.label} returned error code {failed[0]}"
            raise Rejected(Finding(Outcome.RUNTIME_ERROR, reason, {"code": failed[0]}))
        if min(ns) <= 0 or sum(ns) > wall:
            reason = f"{self.label} claims {sum(ns)} ns for calls seen to last {wall} ns"
            raise Rejected(Finding(Outcome.CLOCK_DISAGREEMENT, reason))
        return Ran(tuple(ns), wall)

    def close(self) -> None:
        """Kill the process and close the channel."""
        self.process.kill()
        self.channel.close()

    def _ask(
        self, message: dict[str, Any], timeout: float, fds: tuple[int, ...] = ()
    ) -> dict[str, Any]:
        allowed = min(timeout, self.until - time.monotonic())
        try:
            answer = self.channel.ask(message, max(allowed, 0.0), fds)
        except ChannelTimeout:
            raise Rejected(self._silence(timeout, whole=allowed < timeout)) from None
        except ChannelMixed:
            raise Rejected(self._forgery()) from None
        except ChannelError as problem:
            raise Rejected(self._death(str(problem))) from None
        if "error" in answer:
            raise Rejected(self._refusal(answer))
        return answer

    def _silence(self, seconds: float, *, whole: bool = False) -> Finding:
        self.process.kill()
        reason = f"{self.label} did not answer within {seconds:.3g} s"
        if whole:
            reason = f"{self.label} took too long, all its calls together"
        evidence = {"seconds": seconds, "output": self.process.tail()}
        return Finding(Outcome.TIMEOUT, reason, evidence)

    def _forgery(self) -> Finding:
        self.process.kill()
        return Finding(Outcome.TAMPERING, f"{self.label} sent a forged report")

    def _refusal(self, answer: dict[str, Any]) -> Finding:
        kind, text = _plain(answer.get("kind", "")), _plain(answer.get("error", ""))
        outcomes = {
            "missing_symbol": Outcome.SIGNATURE_ERROR,
            "load_failed": Outcome.BUILD_ERROR,
            "out_of_memory": Outcome.OUT_OF_MEMORY,
            "missing_torch": Outcome.UNSUPPORTED,
            "unavailable": Outcome.UNSUPPORTED,
        }
        outcome = outcomes.get(kind, Outcome.RUNTIME_ERROR)
        return Finding(outcome, f"{self.label}: {text}", {"kind": kind})

    def _death(self, problem: str = "") -> Finding:
        code = _wait(self.process, 2.0)
        if code is None:
            self.process.kill()
            reason = f"{self.label} broke off the conversation ({problem})"
            return Finding(Outcome.TAMPERING, reason, {"output": self.process.tail()})
        evidence = {"exit_code": code, "output": self.process.tail()}
        self.process.kill()
        if code >= 0:
            reason = f"{self.label} left with exit code {code} before it answered"
            return Finding(Outcome.CRASHED, reason, evidence)
        if -code == signal.SIGXCPU:
            return Finding(Outcome.TIMEOUT, f"{self.label} used up its processor time", evidence)
        kills = oom_kills() - self._oom_kills
        if -code == signal.SIGKILL and kills > 0:
            reason = f"{self.label} was killed by the system because the memory was used up"
            return Finding(Outcome.OUT_OF_MEMORY, reason, {**evidence, "oom_kills": kills})
        if -code == signal.SIGABRT and "std::bad_alloc" in evidence["output"]:
            reason = f"{self.label} could not have the memory that it asked for"
            return Finding(Outcome.OUT_OF_MEMORY, reason, evidence)
        reason = f"{self.label} crashed with {signal_name(-code)}"
        return Finding(Outcome.CRASHED, reason, evidence)


def _plain(text: object) -> str:
    """Untrusted text that can be stored and printed: no lone surrogates, not too long."""
    return str(text)[:2000].encode("utf-8", "replace").decode()


def _integers(values: Any, slots: list[int]) -> list[int] | None:
    if not isinstance(values, list) or len(values) != len(slots):
        return None
    return values if all(type(value) is int for value in values) else None


def _wait(process: Process, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    while (code := process.poll()) is None and time.monotonic() < deadline:
        time.sleep(0.005)
    return code
