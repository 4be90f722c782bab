"""The handle on a candidate in Python: what it shares with any worker, and what is asked after.

After each block its process is asked whether the framework's state, the judge's own functions and
the threads are as they were. The answer is a claim: it catches accidents and plain cheats, while
values and times are judged here.
"""

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.channel import Channel
from kernelwright.evaluation.ending import Process
from kernelwright.evaluation.report import Ran
from kernelwright.evaluation.ring import Ring
from kernelwright.evaluation.worker import Worker
from kernelwright.records.outcome import Outcome

LOAD_SECONDS = 20.0
"""Least time for executing a file, which may build machine code."""
FIRST_SECONDS = 30.0
"""Least time for the first calls of a shape, in which the framework's compiler may be at work."""
ASK_SECONDS = 20.0
MOST_NAMES = 64
WATCHED_OF = 3
"""Of so many calls that are not timed all but one are watched, where operators are forbidden."""
LONGEST_NAME = 100


class PythonWorker(Worker):
    """One process behind a channel.

    Args:
        process: as for :class:`Worker`, like ``channel`` and ``label``.
        channel: our end of its socket.
        label: used in reasons.
        forbid: a result that the framework's own operators computed is none of the candidate's.
        handling: what is done beside each call on given buffers, in microseconds.
    """

    def __init__(
        self,
        process: Process,
        channel: Channel,
        label: str = "the candidate",
        *,
        forbid: bool,
        handling: Callable[[Ring], float] | None = None,
    ) -> None:
        super().__init__(process, channel, label)
        self._forbid = forbid
        self._handling = handling
        self._watching = self._watched = False

    def load(self, message: dict[str, Any], timeout: float) -> dict[str, Any]:
        """As for any worker, with time to build."""
        return super().load(message, max(timeout, LOAD_SECONDS))

    def bind(self, ring: Ring, timeout: float, more: Mapping[str, Any] | None = None) -> None:
        """As for any worker, with time to compile: the first calls of a shape are made here."""
        super().bind(ring, max(timeout, FIRST_SECONDS), more)

    def lock(self, timeout: float) -> None:
        """Let it start no processes any more, on which work could be put that nobody counts.

        Raises:
            Rejected: as :meth:`run`; ``tampering`` where the kernel knows of no such lock.
        """
        if "system_calls" not in self.sandbox.active:
            return
        before = self.census.filters()
        self._ask({"do": "lock"}, timeout)
        self.locked = self.alone = True
        if self.census.filters() <= before and before:
            reason = f"{self.label} says that it starts no more processes, and the kernel does not"
            raise Rejected(Finding(Outcome.TAMPERING, reason))

    def beside_us(self, ring: Ring) -> float:
        """Placing parameters, looking for threads, copying results to where they are judged."""
        return self._handling(ring) if self._handling is not None else 0.0

    def rehearse(self, model: Mapping[str, Any] | None, timeout: float) -> None:
        """Be bound as a candidate would, and compute nothing; trusted, and none comes after it."""
        self._ask({"do": "rehearse", "model": model}, timeout)

    def watch(self) -> None:
        """Let the next run name the operators that the candidate calls."""
        self._watching = True

    def run(self, slots: list[int], timeout: float) -> Ran:
        """As for any worker; where operators are forbidden, some of these calls are watched."""
        if self._forbid and secrets.randbelow(WATCHED_OF):
            self.watch()
        return super().run(slots, timeout)

    def again_watched(self, slots: list[int], timeout: float) -> None:
        """A block like those that were timed, on what they were called with, but watched."""
        if self._forbid:
            self.watch()
            super().run(slots, timeout)
            if found := self.left_behind():
                raise Rejected(found)

    def arm(
        self,
        slots: list[int],
        timeout: float,
        whose: object,
        *,
        handicap: float = 0.0,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """As for any worker; the next block names operators if that was asked for."""
        more = {"probe": True} if self._watching else more
        super().arm(slots, timeout, whose, handicap=handicap, more=more)

    def go(self, timeout: float) -> Ran:
        """Call once for each slot; what the calls left behind is asked later."""
        self._watched, self._watching = self._watched or self._watching, False
        return super().go(timeout)

    def left_behind(self) -> Finding | None:
        """As for any worker; then its process is asked.

        After whoever called has looked at the outputs: asking takes milliseconds, in which late
        work could be finished.

        Raises:
            Rejected: ``state_mutated``, ``tampering``, ``deferred_work``, or as for any question.
        """
        if found := super().left_behind():
            return found
        watched, self._watched = self._watched, False
        answer = self._ask_aside({"do": "inspect"}, ASK_SECONDS)
        if answer.get("drew") is True:
            self.labels["draws_random_numbers"] = True
        if not watched:
            return None
        self.labels["library"] = _names(answer.get("library"))
        computing = _names(answer.get("computing"))
        if not self._forbid or not computing:
            return None
        reason = f"the framework computed, not the candidate: it called {computing[0]}"
        return Finding(Outcome.KERNEL_DID_NOT_RUN, reason, {"library": computing})

    def noop_us(self, arguments: int, timeout: float = LOAD_SECONDS) -> float:
        """Microseconds that a call which does nothing costs; trusted before anything is loaded."""
        answer = self._ask({"do": "noop", "arguments": arguments}, timeout)
        return float(answer["ns"]) / 1e3


def _names(found: Any) -> list[str]:
    """Untrusted names, cut to a size that can be kept."""
    if not isinstance(found, list):
        return []
    return [
        str(one)[:LONGEST_NAME].encode("utf-8", "replace").decode() for one in found[:MOST_NAMES]
    ]
