"""The trusted worker of the baselines: runs and times the reference beside a candidate.

Started as ``python -I -m kernelwright.evaluation.oracle.rival CHANNEL LIFELINE``; speaks the
protocol of the candidate's worker. Only the call itself is timed: binding, compiling and copying
the result to where the verifier looks are not a rival's burden.
"""

import gc
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from kernelwright.evaluation.oracle.guard import guard
from kernelwright.evaluation.oracle.seats import Seats

WARM_CALLS = 3
NEEDS_TORCH = ("eager", "fused", "compile")


class Rival:
    """Loaded baselines of one task, bound to argument sets in shared memory.

    Several take turns in one process; a request that names none means the one loaded last.
    """

    def __init__(self) -> None:
        from kernelwright.evaluation.oracle.fault import Fault, user_code

        self.fault = Fault
        self.user_code = user_code
        self.arenas: dict[str, Any] = {}
        self.task: Any = None
        self.players: dict[str, Any] = {}
        self.latest = ""
        self.seats = Seats()

    def open(self, request: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
        """Map an arena under its name."""
        from kernelwright.evaluation.arena import Arena

        known = self.arenas.pop(str(request["arena"]), None)
        if known is not None:
            known.close()
        self.arenas[str(request["arena"])] = Arena(
            descriptors[0], int(request["nbytes"]), writable=bool(request["writable"])
        )
        return {"ok": True}

    def load(self, request: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
        """Load a task's reference as the baseline that is named.

        Raises:
            Fault: it cannot be had here, with the reason.
        """
        from kernelwright.records.task import Task

        task, name = Task.model_validate(request["task"]), str(request["baseline"])
        self.latest = ""
        self.players.pop(name, None)
        player: Any
        if name == "numpy":
            from kernelwright.evaluation.oracle.players import NumpyPlayer

            self.seats.take()
            player = NumpyPlayer(task)
        elif name in NEEDS_TORCH:
            from kernelwright.evaluation.oracle.fault import import_torch

            import_torch().set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
            from kernelwright.evaluation.oracle.torch_players import TorchPlayer

            player = TorchPlayer(task, name)
        else:
            raise self.fault("unavailable", f"there is no baseline {name!r}")
        self.task, self.latest, self.players[name] = task, name, player
        return {"ok": True}

    def bind(self, request: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
        """Prepare one call for each slot, and make them all, untimed: a few times if they are new.

        Raises:
            Fault: the reference fails.
        """
        from kernelwright.evaluation.oracle.slots import bind_slots

        player = self._named(request)
        bound = bind_slots(self.task, self.arenas, request["slots"])
        known = player.bind(bound)
        for _ in range(1 if known else WARM_CALLS):
            self._calls(player, range(len(bound)))
        self.seats.look()
        gc.collect()
        gc.freeze()  # so that collecting before each block takes no time
        return {"ok": True}

    def run(self, request: dict[str, Any], channel: Any) -> None:
        """Call once for each slot named, when told to, and report nanoseconds.

        A fault is reported as a report of zeros, followed by a message.
        """
        import array

        gc.collect()  # never in a call: nor does it in the candidates' process
        slots, token = request["slots"], bytes.fromhex(request["token"])
        channel.reply(request, {"armed": True})
        if not channel.told_to_go():
            return
        try:
            spent = self._calls(self._named(request), slots, int(request.get("handicap", 0)))
        except self.fault as fault:
            channel.raw(bytes(8 + 12 * len(slots)))
            channel.send(fault.answer())
            return
        except MemoryError:
            channel.raw(bytes(8 + 12 * len(slots)))
            channel.send({"error": "not enough memory", "kind": "out_of_memory"})
            return
        channel.raw(token + array.array("q", spent).tobytes() + bytes(4 * len(slots)))

    def _named(self, request: dict[str, Any]) -> Any:
        """The player that a request means.

        Raises:
            Fault: it is not loaded.
        """
        name = str(request.get("baseline", self.latest))
        if name not in self.players:
            raise self.fault("unavailable", f"the baseline {name!r} is not loaded")
        return self.players[name]

    def _calls(self, player: Any, numbers: Iterable[int], handicap: int = 0) -> list[int]:
        """Nanoseconds of one call for each slot, prolonged by so many thousandths."""
        clock = time.perf_counter_ns
        spent = []
        with player.mode(), self.user_code("the reference"):
            for number in numbers:
                player.prepare(number)
                started = clock()
                result = player.call()
                if handicap:
                    until = clock()
                    until += (until - started) * handicap // 1000
                    while clock() < until:
                        pass
                spent.append(clock() - started)
                player.finish(number, result)
        return spent


def serve(channel: Any, rival: Rival) -> None:
    """Answer until the other side closes."""
    from kernelwright.evaluation.channel import ChannelError

    while True:
        try:
            request, descriptors = channel.receive()
        except ChannelError:
            return
        handlers: dict[str, Callable[..., dict[str, Any]]] = {
            "open": rival.open,
            "load": rival.load,
            "bind": rival.bind,
        }
        if request.get("do") == "run":
            rival.run(request, channel)
            continue
        handler = handlers.get(str(request.get("do")))
        if handler is None:
            answer = {"error": f"unknown request {request.get('do')!r}", "kind": "protocol"}
        else:
            try:
                answer = handler(request, descriptors)
            except rival.fault as fault:
                answer = fault.answer()
            except MemoryError:
                answer = {"error": "not enough memory", "kind": "out_of_memory"}
        channel.reply(request, answer)


def main() -> None:
    """Serve one verifier."""
    guard(int(sys.argv[2]))
    gc.disable()
    # numpy's BLAS reads this once, when it is imported.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "1")
    warnings.simplefilter("ignore")
    from kernelwright.evaluation.channel import Channel

    serve(Channel.from_fd(int(sys.argv[1])), Rival())


if __name__ == "__main__":
    main()
