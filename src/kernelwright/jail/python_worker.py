"""The worker of a candidate in Python: the protocol of ``run.py``, and one question more.

Forked by ``zygote.py``, used for one candidate, then killed. After a block of calls the verifier
asks it to ``inspect``: that the judge's functions, the framework's settings and the threads are as
they were. What it answers is a claim, like everything said in a candidate's process.
"""

from __future__ import annotations

import array
import json
import time
from collections import deque
from collections.abc import Iterable
from functools import partial
from typing import Any

import candidate  # type: ignore[import-not-found]
import confine  # type: ignore[import-not-found]
import filters  # type: ignore[import-not-found]
import guards  # type: ignore[import-not-found]
import operators  # type: ignore[import-not-found]
import run  # type: ignore[import-not-found]
import torch
import torch._dynamo  # replaces functions of torch when it comes, and the first dispatch mode asks
from refusal import Refusal, theirs  # type: ignore[import-not-found]
from tensors import Arenas  # type: ignore[import-not-found]

CLOCK, INFERENCE = time.perf_counter_ns, torch.inference_mode
WARM_ROUNDS, WARM_SECONDS = 3, 1.0
HELD = 3
"""Results of warm calls that are kept, to see whether fresh ones share their memory."""
NOOP_CALLS = 1000


class PythonWorker(run.Worker):
    """State of the one candidate."""

    def __init__(self) -> None:
        super().__init__()
        self.known = operators.spaces()
        self.player: Any = None
        self.guards = guards.Guards()
        self.seen: list[str] | None = None

    def noop(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Nanoseconds that a call of a function which does nothing costs; before any candidate."""
        call = partial(lambda *arguments: None, *[None] * int(message["arguments"]))
        spent = []
        for _ in range(NOOP_CALLS):
            start = CLOCK()
            call()
            guards.quiet()
            spent.append(CLOCK() - start)
        return {"ns": sorted(spent)[NOOP_CALLS // 2]}

    def rehearse(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Let calls do nothing of use, so that what is done beside them can be measured."""
        self.player = candidate.rehearsal(message["model"])
        return {"ok": True}

    def load(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Execute the candidate's file."""
        self.player = candidate.load(message)
        self.guards.check("while it was loaded")
        self.guards.drew()  # parameters are drawn when a model is built, and then are ours
        return {"ok": True}

    def bind(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Prepare one call for each slot and make them all at least twice, untimed."""
        slots = range(len(message["slots"]))
        self.player.bind(message["slots"], Arenas(self.arenas))
        until = time.monotonic() + WARM_SECONDS
        self._calls([slot for slot in slots for _ in range(2)], HELD)
        for _ in range(WARM_ROUNDS - 2):
            if time.monotonic() < until:
                self._calls(slots, 1)
        guards.sweep(keep=True)
        self.guards.warm()
        return {"ok": True}

    def run(self, message: dict[str, Any], wire: run.Wire) -> None:
        """Call once for each slot named, when told to; report nanoseconds and return codes."""
        slots, token = message["slots"], bytes.fromhex(message["token"])
        watch = operators.Operators() if message.get("probe") else None
        # Here the last block was looked at, and the contents of the next do not exist yet.
        guards.sweep()
        wire.send({"armed": True, "number": message["number"]})
        if not wire.told_to_go():
            return
        try:
            spent, codes = self._calls(slots, 1, watch)
        except (Refusal, MemoryError) as problem:
            wire.raw(bytes(len(token) + 12 * len(slots)))
            wire.send(refused(problem))
            return
        wire.raw(token + array.array("q", spent).tobytes() + array.array("i", codes).tobytes())
        if watch is not None:
            self.seen = list(watch.names)

    def inspect(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Whether everything is as it was; which operators the probed call used."""
        self.guards.finished()
        self.guards.check("by a call")
        answer: dict[str, Any] = {"drew": self.guards.drew()}
        if self.seen is not None:
            answer["library"] = self.seen
            answer["computing"] = operators.computing(self.seen, self.known)
            self.seen = None
        return answer

    def lock(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Start no processes from now on: what is built has been built."""
        filters.no_more_processes()
        return {"ok": True}

    def _calls(
        self, slots: Iterable[int], held: int, watch: operators.Operators | None = None
    ) -> tuple[list[int], list[int]]:
        player, clock, quiet = self.player, CLOCK, guards.quiet
        spent: list[int] = []
        codes: list[int] = []
        # As long as the baselines keep theirs: what a call gets from the allocator depends on it.
        alive: deque[Any] = deque(maxlen=held)
        player.hold(held)
        guards.quiet()
        with theirs("the call"), INFERENCE():
            for slot in slots:
                call = player.prepare(slot)
                if watch is not None:
                    call = partial(watch.around, call)
                start = clock()
                result = call()
                quiet()
                took = clock() - start
                guards.over()
                code, left = player.finish(slot, result)
                spent.append(took + left)
                codes.append(code)
                alive.append(result)
        return spent, codes


def refused(problem: Refusal | MemoryError) -> dict[str, Any]:
    """The message for what ended a request."""
    if isinstance(problem, MemoryError):
        return {"error": "out of memory", "kind": "out_of_memory"}
    answer: dict[str, Any] = problem.answer()
    return answer


def main(channel: int, spec: dict[str, Any]) -> None:
    """Confine this process, then answer messages until the socket closes or we are killed."""
    wire = run.Wire(channel)
    confine.apply(spec)
    guards.STOP_COLLECTING()
    guards.sweep(keep=True)
    run.LIBC.prctl(run.PDEATHSIG, run.SIGKILL, 0, 0, 0)
    worker = PythonWorker()
    wire.send({"ready": True})
    while True:
        message, fds = wire.receive()
        if message["do"] == "run":
            worker.run(message, wire)
            continue
        try:
            answer = getattr(worker, message["do"])(message, fds)
        except (Refusal, MemoryError) as problem:
            answer = refused(problem)
        except (OSError, ValueError, OverflowError, json.JSONDecodeError) as problem:
            answer = {"error": str(problem)[:2000], "kind": "worker"}
        wire.send({**answer, "number": message["number"]})
