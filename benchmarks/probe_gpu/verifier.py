"""The trusted process of one device: owns inputs, poisons, checks, and directs the workers.

It imports no framework and no candidate. Run as a program it answers one JSON request a line; it
holds a lock on the device for its whole life. What a worker says is a claim: answers are checked
where they lie, and time is compared with this process's own clock and with the device's trace.
"""

import ctypes
import fcntl
import json
import os
import secrets
import select
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import device
from builds import own_copy
from channel import BadReply, Gone, Late
from device import F32, POINTER, U16, U32, U64, Code, call, driver
from pairs import BLOCK, ORDER, decision, ratio, trimmed
from ring import GUARD_BYTES, SLOTS, Ring
from sides import HEAD_US, Refused, Side, Workers
from tasks import MIB, TASKS
from zygote import die_with_parent

HERE = Path(__file__).resolve().parent
REPORT_BYTES = 40
MOST_HEAD_US = 20_000.0
LOAD_S, CALL_S = 20.0, 4.0
CHECKED_PLACES = 4096  # of a matrix product
MEMORY_BACK = 300 * MIB  # what the death of a worker must at least give back


class Verifier:
    """Judges built candidates on one device, one at a time."""

    def __init__(self, folder: Path, batch: int = 12, layers: list[str] | None = None) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.lock = (folder / "device.lock").open("w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        began = time.perf_counter()
        device.open_context()
        cubin = device.compile_cubin(HERE / "judge_kernels.cu", folder / "judge.cubin")
        self.code = Code(cubin)
        self.reports = int(call(driver.cuMemAlloc(REPORT_BYTES * SLOTS)))
        self.own_s = time.perf_counter() - began
        self.workers = Workers(folder, cubin, batch, layers or [])
        self.rings: dict[str, Ring] = {}
        self.baselines: dict[str, Side] = {}
        self.dying: list[Side] = []
        self.waves = 8 * device.attribute("MULTIPROCESSOR_COUNT")
        self.workers.fresh([]).kill()  # fills the priming cache, alone

    def ring(self, name: str) -> Ring:
        if name not in self.rings:
            self.rings[name] = Ring(TASKS[name])
        return self.rings[name]

    # ------------------------------------------------------------ contents

    def fill(self, ring: Ring, slots: list[int]) -> None:
        """Fresh contents at the same addresses; earlier seeds are kept to recognise old answers."""
        kernel = f"fill_{ring.task.dtype}"
        for slot in slots:
            ring.before[slot], ring.seeds[slot] = ring.seeds[slot], secrets.randbits(32)
            where = (ring.slots[slot][0].address, POINTER)
            count = (ring.task.in_elements, U64)
            self.code(kernel, self.waves, 256, where, count, (ring.seeds[slot], U32))

    def poison(self, ring: Ring, slots: list[int]) -> None:
        for slot in slots:
            where = (ring.slots[slot][1].address, POINTER)
            words = ((ring.out_bytes + GUARD_BYTES) // 4, U64)
            self.code("fill_words", self.waves, 256, where, words, (ring.word, U32))

    def prepare(self, ring: Ring, slots: list[int]) -> None:
        ring.poison = ring.task.poisons[secrets.randbelow(2)]
        self.fill(ring, slots)
        self.poison(ring, slots)
        device.synchronize()

    # ------------------------------------------------------------ answers

    def check(self, ring: Ring, slots: list[int], seeds: list[int] | None = None) -> list[dict]:
        """One pass over each output; the right answer is made from the seed in float64."""
        clean = (b"\0" * 36 + b"\xff" * 4) * len(slots)
        call(driver.cuMemcpyHtoD(self.reports, clean, len(clean)))
        for i, slot in enumerate(slots):
            self.launch_check(ring, slot, (seeds or ring.seeds)[slot], i)
        words = device.read_u32(self.reports, 10 * len(slots))
        return [self.report(words[10 * i : 10 * i + 10]) for i in range(len(slots))]

    def launch_check(self, ring: Ring, slot: int, seed: int, index: int) -> None:
        task, (given, out) = ring.task, ring.slots[slot]
        report = (self.reports + REPORT_BYTES * index, POINTER)
        poison = (ring.poison, U16)
        if task.entry == "row_sum":
            poison = (ctypes.c_float.from_buffer_copy(ctypes.c_uint32(ring.poison)).value, F32)
        common = (given.address, POINTER), (out.address, POINTER)
        guard = (out.address + ring.out_bytes, POINTER), (GUARD_BYTES // 4, U32)
        self.code("check_guard", 1, 256, *guard, (ring.word, U32), report)
        if task.entry == "matmul":
            sizes = (task.axes[0], U32), (CHECKED_PLACES, U32), (seed, U32), poison
            draw = (secrets.randbits(32), U32)
            self.code("check_matmul", CHECKED_PLACES // 8, 256, *common, *sizes, report, draw)
            return
        sizes = (task.axes[0], U32), (task.axes[1], U32), (seed, U32), poison
        self.code(f"check_{task.entry}", task.axes[0], 256, *common, *sizes, report)

    @staticmethod
    def report(words: list[int]) -> dict[str, Any]:
        wide = [words[2 * i] + (words[2 * i + 1] << 32) for i in range(4)]
        worst = ctypes.c_float.from_buffer_copy(ctypes.c_uint32(words[8])).value
        names = ("wrong", "poisoned", "touched", "outside")
        return {**dict(zip(names, wide, strict=True)), "worst": worst, "first": words[9]}

    def accept(self, ring: Ring, slots: list[int], stage: str) -> None:
        """Raises Refused unless every output is right now, at the worker's return."""
        reports = self.check(ring, slots)
        bad = [i for i, report in enumerate(reports) if report["wrong"] or report["poisoned"]]
        touched = sum(report["touched"] for report in reports)
        if touched:
            raise Refused("input_changed", elements=touched, stage=stage)
        outside = sum(report["outside"] for report in reports)
        if outside:
            raise Refused("wrote_outside", words=outside, stage=stage)
        if not bad:
            return
        at = [slots[i] for i in bad]
        seen = {"stage": stage, "calls": f"{len(bad)} of {len(slots)}", **reports[bad[0]]}
        raise Refused(self.kind_of_wrong(ring, at), **seen)

    def kind_of_wrong(self, ring: Ring, slots: list[int]) -> str:
        old = self.check(ring, slots, ring.before)
        if not any(report["wrong"] for report in old):
            return "stale_output"
        time.sleep(0.05)
        now = self.check(ring, slots)
        return "wrong_values" if any(report["wrong"] for report in now) else "late_work"

    # ------------------------------------------------------------ calls

    def load(self, side: Side, ring: Ring, built: dict[str, Any]) -> dict[str, Any]:
        message = {**ring.task.message(), "values": {}, **built, "verb": "load",
                   "sizes": [block.size for block in ring.blocks]}  # fmt: skip
        return side.ask(message, LOAD_S, ring.fds)

    def block(self, side: Side, ring: Ring, stage: str, tail_cycles: int = 0,
              head: bool = True, check: bool = True) -> dict[str, Any]:  # fmt: skip
        """One block of calls on fresh contents, every output checked; with this process's clock."""
        slots = list(range(SLOTS))
        began = time.perf_counter()
        self.prepare(ring, slots)
        start = time.perf_counter()
        head_us = side.head_us if head else 0.0
        message = {"verb": "block", "slots": slots, "head_us": head_us, "tail_cycles": tail_cycles}
        reply = side.ask(message, CALL_S)
        stop = time.perf_counter()
        if check:
            self.accept(ring, slots, stage)
        wall = 1e6 * (stop - start)
        reply |= {"wall_us": wall, "unexplained_us": wall - head_us - reply["span_us"],
                  "prepare_us": 1e6 * (start - began),
                  "check_us": 1e6 * (time.perf_counter() - stop)}  # fmt: skip
        return reply

    def traced_block(self, side: Side, ring: Ring) -> list[float]:
        """Traced time of each of a block's calls, for kernels too short for events."""
        slots = list(range(SLOTS))
        self.prepare(ring, slots)
        reply = side.ask({"verb": "traced", "slots": slots}, CALL_S)
        self.accept(ring, slots, "traced")
        taken = [k[2] for k in reply["kernels"] if not k[0].startswith("Memset")]
        each = len(taken) // SLOTS
        return [sum(taken[each * i : each * (i + 1)]) for i in range(SLOTS)]

    def paired(self, a: Side, b: Side, ring: Ring, groups: int, tails: tuple[int, int] = (0, 0),
               head: bool = True) -> dict[str, Any]:  # fmt: skip
        """ABBA groups; returns the ratio, the times of each group, and the second clock."""
        a.head_us = b.head_us = max(a.head_us, b.head_us)
        taken, unexplained, queue_us = [], {"A": [], "B": []}, 0.0
        for _ in range(groups):
            group: dict[str, list[float]] = {"A": [], "B": []}
            for letter in ORDER:
                side, tail = (a, tails[0]) if letter == "A" else (b, tails[1])
                reply = self.block(side, ring, "timed", tail, head)
                group[letter] += reply["us"]
                unexplained[letter].append(reply["unexplained_us"])
                queue_us = max(queue_us, reply["queue_us"])
            taken.append(group)
        return {
            "ratio": ratio(taken),
            "us": {s: trimmed([t for group in taken[1:] for t in group[s]]) for s in "AB"},
            "unexplained_us": {s: statistics.median(unexplained[s]) for s in "AB"},
            "queue_us": queue_us,
            "groups": taken,
        }

    def baseline(self, name: str) -> Side:
        """The trusted worker that runs the task's baseline; started once."""
        if name not in self.baselines:
            side = self.workers.fresh()
            path = str(HERE / "baselines" / TASKS[name].baseline)
            self.load(side, self.ring(name), {"kind": "python", "path": path})
            for _ in range(2):
                self.block(side, self.ring(name), "baseline")
            self.baselines[name] = side
        return self.baselines[name]

    # ------------------------------------------------------------ the judgement

    def judge(self, request: dict[str, Any], built: dict[str, Any]) -> dict[str, Any]:
        """The screen rung for one built candidate; its failure is a value."""
        answer: dict[str, Any] = {"parts": {}}
        self.baseline(request["task"])
        began = time.perf_counter()
        side = self.workers.take()
        answer["parts"]["start_s"] = time.perf_counter() - began
        try:
            self.stages(side, request, built, answer)
            answer["outcome"] = "pass"
        except Refused as refused:
            answer |= {"outcome": refused.outcome, "seen": refused.seen}
        except Late as late:
            answer |= {"outcome": "timed_out", "seen": {"text": str(late)}}
        except Gone:
            answer |= {"outcome": "crashed", "seen": {}}
        except BadReply as bad:
            answer |= {"outcome": "bad_reply", "seen": {"text": str(bad)[:200]}}
        answer["parts"]["total_s"] = time.perf_counter() - began
        if answer["outcome"] in {"timed_out", "crashed", "illegal_access", "out_of_memory"}:
            answer["health"] = self.health(request["task"], side)
        else:
            side.kill()
            self.dying.append(side)
        return answer

    def settle(self) -> None:
        """Nothing may be torn down while time is taken: killed workers are waited for."""
        while self.dying:
            if not self.dying.pop().gone(10.0):
                raise RuntimeError("a killed worker stays")

    def stages(self, side: Side, request: dict, built: dict, answer: dict) -> None:
        ring, parts = self.ring(request["task"]), answer["parts"]

        def lap(name: str, step: Callable[[], Any]) -> Any:
            began = time.perf_counter()
            try:
                return step()
            finally:
                parts[name] = time.perf_counter() - began

        built = own_copy(built, side.home)
        answer["load"] = lap("load_s", lambda: self.load(side, ring, built))
        answer["smoke"] = lap("smoke_s", lambda: self.smoke(side, ring))
        first = lap("check_s", lambda: self.block(side, ring, "checked"))
        side.head_us = min(max(HEAD_US, 1.5 * first["queue_us"]), MOST_HEAD_US)
        lap("settle_s", self.settle)
        rival = self.baseline(request["task"])
        timed = lap("time_s", lambda: self.paired(side, rival, ring, request.get("groups", 3)))
        answer["clocks"] = lap("clocks_s", lambda: self.clocks(side, rival, ring))
        answer |= timed
        self.compare_clocks(answer)
        answer["decision"] = decision(timed["ratio"], request.get("noise", 0.005))

    def smoke(self, side: Side, ring: Ring) -> dict[str, Any]:
        """One call at a time, the same address with new contents: nothing kept may pass."""
        replies = []
        for _ in range(3):
            self.prepare(ring, [0])
            replies.append(side.ask({"verb": "single", "slot": 0}, CALL_S))
            self.accept(ring, [0], "smoke")
        return {"first_call_s": replies[0]["seconds"], "second_call_s": replies[1]["seconds"],
                "cache_hits": replies[-1]["cache_hits"]}  # fmt: skip

    def clocks(self, side: Side, rival: Side, ring: Ring) -> dict[str, Any]:
        """The same calls by events after a join, and by the device's trace, on both sides."""
        slots, found = list(range(5)), {}
        for name, one in (("candidate", side), ("baseline", rival)):
            self.prepare(ring, slots)
            joined = one.ask({"verb": "joined", "slots": slots}, CALL_S)
            self.accept(ring, slots, "joined")
            self.prepare(ring, slots)
            traced = one.ask({"verb": "traced", "slots": slots}, CALL_S)
            self.accept(ring, slots, "traced")
            kernels = [k for k in traced["kernels"] if not k[0].startswith("Memset")]
            found[name] = {
                "joined_us": statistics.median(joined["us"]),
                "queue_us": statistics.median(joined["queue_us"]),
                "joined_wall_us": statistics.median(joined["wall_us"]),
                "traced_us": sum(k[2] for k in kernels) / len(slots),
                "kernels": sorted({k[0] for k in kernels}),
                "streams": sorted({k[1] for k in kernels}),
                "trace_s": traced["seconds"],
            }
        return found

    @staticmethod
    def compare_clocks(answer: dict[str, Any]) -> None:
        """Refuses work that the events did not see; the baseline says what is usual."""
        clocks, claimed = answer["clocks"], answer["us"]
        mine, usual = clocks["candidate"], clocks["baseline"]
        joined = (mine["joined_us"] - claimed["A"]) - (usual["joined_us"] - claimed["B"])
        joined -= max(0.0, mine["queue_us"] - usual["queue_us"])  # launches of the call itself
        wall = answer["unexplained_us"]["A"] - answer["unexplained_us"]["B"]
        traced = mine["traced_us"] - claimed["A"]
        seen = {"claimed_us": claimed["A"], "joined_excess_us": joined,
                "wall_excess_us_a_block": wall, "traced_excess_us": traced}  # fmt: skip
        answer["clock_excess"] = seen
        if not mine["kernels"]:
            raise Refused("nothing_ran", **seen)
        alarms = {
            "trace": traced > 5 + 0.2 * claimed["A"],
            "join": joined > 25 + 0.2 * claimed["A"],
            "wall": wall > 250 + 0.2 * BLOCK * claimed["A"],
        }
        if any(alarms.values()):
            raise Refused("hidden_work", clocks=[key for key in alarms if alarms[key]], **seen)

    # ------------------------------------------------------------ after a fault

    def health(self, task: str, side: Side) -> dict[str, float]:
        """Kills; milliseconds to own kernel, process gone, memory back, neighbour, new worker."""
        ring, found = self.ring(task), {}
        self.settle()
        free = device.free_bytes()
        ended = bool(select.select([side.watched], [], [], 0)[0])  # its memory is back already
        killed = time.perf_counter()
        side.kill()

        def mark(name: str) -> None:
            found[name] = 1e3 * (time.perf_counter() - killed)

        self.prepare(ring, [0])
        mark("own_kernel_ms")
        side.gone(10.0)
        mark("gone_ms")
        while (
            not ended
            and device.free_bytes() < free + MEMORY_BACK
            and time.perf_counter() - killed < 10
        ):
            time.sleep(0.001)
        mark("memory_back_ms")
        self.prepare(ring, [0])
        self.baseline(task).ask({"verb": "single", "slot": 0}, CALL_S)
        self.accept(ring, [0], "health")
        mark("neighbour_right_ms")
        began = time.perf_counter()
        fresh = self.workers.fresh()
        path = str(HERE / "baselines" / TASKS[task].baseline)
        self.load(fresh, ring, {"kind": "python", "path": path})
        self.prepare(ring, [0])
        fresh.ask({"verb": "single", "slot": 0}, CALL_S)
        self.accept(ring, [0], "health")
        found["new_worker_right_ms"] = 1e3 * (time.perf_counter() - began)
        fresh.kill()
        return found

    def close(self) -> None:
        for side in self.baselines.values():
            side.kill()
        self.workers.close()


def main() -> None:
    die_with_parent()
    layers = [name for name in os.environ.get("PROBE_LAYERS", "").split("+") if name]
    verifier = Verifier(Path(sys.argv[1]), int(sys.argv[2]), layers)
    verifier.workers.fill()
    shown = verifier.workers.ready[0].parts
    hello = {"primed": shown, "own_s": verifier.own_s, "zygote": verifier.workers.hello,
             "prime_s": verifier.workers.prime_s}  # fmt: skip
    print(json.dumps(hello), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        answer = verifier.judge(order["request"], order["built"])
        answer.pop("groups", None)
        print(json.dumps(answer), flush=True)
    verifier.close()


if __name__ == "__main__":
    main()
