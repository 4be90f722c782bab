"""Measure trusted timing and isolation on a CPU-only Linux machine.

    python benchmarks/probe/probe.py --json out.json [--quick] [--layers-only]

The main process plays the verifier: it owns inputs, expected outputs and the verdict. Candidate
and baseline are separate workers (`worker.py`); inputs reach them through a memfd that they can
only read, outputs through one whose size is sealed.
"""

import argparse
import ctypes
import fcntl
import itertools
import json
import mmap
import os
import pathlib
import platform
import secrets
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

try:
    import numpy as np
except ImportError:  # enough for --layers-only
    np = None  # type: ignore[assignment]

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = [
    "-O3",
    "-march=native",
    "-fopenmp",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-tree-pre",
    "-shared",
    "-fPIC",
]
ENVIRONMENT = {
    "OMP_NUM_THREADS": str(os.cpu_count()),
    "OMP_WAIT_POLICY": "passive",
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C",
}
GUARD, GUARD_BYTE, POISON = 4096, 0xA5, 0x7FC0DEAD
SEALS = 0x1 | 0x2 | 0x4  # seal, shrink, grow; F_SEAL_FUTURE_WRITE = 0x10 comes on top for inputs
EPS = 1e-5


def clock() -> float:
    return time.perf_counter()


def milliseconds(action: Callable[[], object], repeats: int = 11) -> float:
    """Median of the repeats."""
    times = []
    for _ in range(repeats):
        start = clock()
        action()
        times.append((clock() - start) * 1e3)
    return round(statistics.median(times), 3)


def layers(user: bool) -> list[dict[str, Any]]:
    """Each layer in a fresh process of `layers.py`."""
    sys.path.insert(0, str(HERE))
    import layers as module

    rows = []
    for name in module.NAMES:
        command = [
            sys.executable,
            "-I",
            "-S",
            str(HERE / "layers.py"),
            name,
            *(["--user"] if user else []),
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=30, check=False, env=ENVIRONMENT
        )
        lines = done.stdout.splitlines()
        rows.append(
            json.loads(lines[-1])
            if lines
            else {"layer": name, "obtained": False, "error": done.stderr[-300:]}
        )
    return rows


# ---- processes ---------------------------------------------------------------------------------


class Worker:
    """One sandboxed process; every answer is checked against the nonce of its request."""

    def __init__(self, sandbox: bool = True) -> None:
        start = clock()
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel.settimeout(60)
        command = [sys.executable, "-I", "-S", str(HERE / "worker.py"), str(theirs.fileno())]
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], env=ENVIRONMENT, stdin=subprocess.DEVNULL
        )
        theirs.close()
        json.loads(self.channel.recv(65536))
        self.spawn_ms = (clock() - start) * 1e3
        self.steps = self.ask("sandbox")["ms"] if sandbox else {}
        self.ready_ms = (clock() - start) * 1e3

    def send(self, operation: str, fds: list[int] | None = None, **fields: Any) -> int:
        """Send one request; returns its nonce."""
        nonce = secrets.randbits(48)
        socket.send_fds(
            self.channel,
            [json.dumps({"op": operation, "nonce": nonce, **fields}).encode()],
            fds or [],
        )
        return nonce

    def receive(self, nonce: int) -> dict[str, Any]:
        """The answer to that nonce."""
        reply = json.loads(self.channel.recv(65536))
        if reply.get("nonce", reply.get("ready")) != nonce:
            raise RuntimeError("answer to another question")
        return reply

    def ask(self, operation: str, fds: list[int] | None = None, **fields: Any) -> dict[str, Any]:
        """Send and wait."""
        return self.receive(self.send(operation, fds, **fields))

    def load(self, library: pathlib.Path, entry: str) -> None:
        """Hand over the built library in a sealed memfd."""
        fd = os.memfd_create("candidate", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.write(fd, library.read_bytes())
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS | 0x8)
        self.ask("load", [fd], entry=entry)
        os.close(fd)

    def run(self, order: list[int], policy: str) -> tuple[list[int], float]:
        """Nanoseconds claimed by call, and the verifier's own for the whole block."""
        nonce = self.send("run", order=order, policy=policy)
        self.receive(nonce)
        start = time.perf_counter_ns()
        self.channel.send(b"go")
        packet = self.channel.recv(65536)
        wall = time.perf_counter_ns() - start
        reply = json.loads(packet)
        if reply["nonce"] != nonce or reply["code"] or len(reply["times"]) != len(order):
            raise RuntimeError(f"bad reply {reply}")
        return reply["times"], wall

    def kill(self) -> float:
        """Milliseconds until the process is gone."""
        start = clock()
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            self.process.kill()
        self.process.wait()
        self.channel.close()
        return (clock() - start) * 1e3


def spawn_costs(repeats: int) -> dict[str, float]:
    def popen(*code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, *code], check=True)

    zygote_code = (
        "import os,sys\nwhile sys.stdin.buffer.read(1):\n"
        " if os.fork()==0: os.write(1,b'x'); os._exit(0)\n os.wait()"
    )
    with subprocess.Popen(
        [sys.executable, "-I", "-c", "import numpy\n" + zygote_code], stdin=-1, stdout=-1, bufsize=0
    ) as zygote:

        def fork() -> None:
            zygote.stdin.write(b"x")  # type: ignore[union-attr]
            zygote.stdout.read(1)  # type: ignore[union-attr]

        fork()
        forked = milliseconds(fork, 50)
        zygote.stdin.close()  # type: ignore[union-attr]
    workers = [(Worker(sandbox), sandbox) for sandbox in [False, True] * repeats]
    kills = {
        sandbox: [worker.kill() for worker, kind in workers if kind == sandbox]
        for sandbox in (False, True)
    }
    return {
        "python_I_S_start_to_exit": milliseconds(popen("-I", "-S", "-c", "pass"), repeats),
        "python_I_numpy_start_to_exit": milliseconds(popen("-I", "-c", "import numpy"), repeats),
        "zygote_fork_to_hello": forked,
        "worker_to_hello": statistics.median(worker.spawn_ms for worker, _ in workers),
        "worker_to_sandboxed": statistics.median(
            worker.ready_ms for worker, kind in workers if kind
        ),
        "kill_plain": statistics.median(kills[False]),
        "kill_sandboxed": statistics.median(kills[True]),
    }


# ---- tensors -----------------------------------------------------------------------------------


def serial_sum(values: "np.ndarray") -> "np.ndarray":
    return np.cumsum(values, axis=1, dtype=np.float32)[:, -1:]


def plain_sum(values: "np.ndarray") -> "np.ndarray":
    return values.sum(axis=1, keepdims=True)


def softmax(x: "np.ndarray", total: Callable = plain_sum) -> "np.ndarray":
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / total(powers)


def rmsnorm(x: "np.ndarray", w: "np.ndarray", total: Callable = plain_sum) -> "np.ndarray":
    return x * (1 / np.sqrt(total(x * x) / x.dtype.type(x.shape[1]) + x.dtype.type(EPS))) * w


def matmul(a: "np.ndarray", b: "np.ndarray", total: Callable = plain_sum) -> "np.ndarray":
    if total is plain_sum:
        return a @ b
    result = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        result += a[:, k : k + 1] * b[k]
    return result


OPERATIONS: dict[str, dict[str, Any]] = {
    "softmax": {
        "run": softmax,
        "inputs": [(1024, 4096)],
        "output": (1024, 4096),
        "scalars": [],
        "axes": [1024, 4096],
    },
    "rmsnorm": {
        "run": rmsnorm,
        "inputs": [(1024, 4096), (4096,)],
        "output": (1024, 4096),
        "scalars": [EPS],
        "axes": [1024, 4096],
    },
    "matmul": {
        "run": matmul,
        "inputs": [(384, 384)] * 2,
        "output": (384, 384),
        "scalars": [],
        "axes": [384, 384, 384],
    },
}


class Ring:
    """Slots of inputs (read-only for the worker) and guarded outputs, shared with one worker."""

    def __init__(
        self,
        worker: Worker,
        operation: str,
        slots: int,
        flush: int,
        like: "Ring | None" = None,
        shared: str = "",
    ) -> None:
        """With `like`, its inputs are mapped a second time.

        Its outputs too where `shared` says all (for diagnosis only).
        """
        spec = OPERATIONS[operation]
        self.inputs: list[list[np.ndarray]] = []
        self.outputs: list[np.ndarray] = []
        self.guards: list[np.ndarray] = []
        shapes_in, shape_out = spec["inputs"], spec["output"]
        sizes = [
            slots * sum(_pages(shape) for shape in shapes_in),
            slots * (_pages(shape_out) + GUARD) + GUARD,
        ]
        fds, views, table = [], [], []
        for kind, size, seal in zip(("inputs", "all"), sizes, (0x10, 0), strict=True):
            if like and shared in ("all", kind):
                fds.append(os.dup(like.fds[len(fds)]))
                views.append(like.views[len(views)])
                continue
            fd = os.memfd_create("tensors", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.ftruncate(fd, size)
            views.append(
                np.frombuffer(
                    mmap.mmap(fd, size, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE), np.uint8
                )
            )
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS | seal)
            fds.append(fd)
        at_in, end = 0, 0
        for _ in range(slots):
            places = []
            for shape in shapes_in:
                places.append(at_in)
                at_in += _pages(shape)
            start = -(-(end + GUARD) // GUARD) * GUARD
            self.guards.append(views[1][end:start])
            end = start + 4 * int(np.prod(shape_out))
            table.append([places, [start]])
            self.inputs.append(
                [
                    _tensor(views[0], place, shape)
                    for place, shape in zip(places, shapes_in, strict=True)
                ]
            )
            self.outputs.append(_tensor(views[1], start, shape_out))
        self.guards.append(views[1][end:])
        for guard in self.guards:
            guard.fill(GUARD_BYTE)
        worker.ask(
            "map",
            fds,
            sizes=sizes,
            flush=flush,
            slots=table,
            scalars=spec["scalars"],
            axes=spec["axes"],
        )
        self.fds, self.views = fds, views

    def close(self) -> None:
        """Close the descriptors."""
        for fd in self.fds:
            os.close(fd)

    def poison(self, slots: list[int]) -> None:
        """A NaN of our own in every output element."""
        for slot in slots:
            self.outputs[slot].view(np.uint32).fill(POISON)

    def guards_hold(self) -> bool:
        """Whether no byte between the outputs changed."""
        return all(bool((guard == GUARD_BYTE).all()) for guard in self.guards)


def _pages(shape: tuple[int, ...]) -> int:
    return -(-4 * int(np.prod(shape)) // GUARD) * GUARD


def _tensor(memory: "np.ndarray", at: int, shape: tuple[int, ...]) -> "np.ndarray":
    return memory[at : at + 4 * int(np.prod(shape))].view(np.float32).reshape(shape)


def fill(rings: list[Ring], seed: int) -> None:
    """Seeded base with a scale and an offset of its own, the same in every ring."""
    random = np.random.default_rng(seed)
    for slot, tensors in enumerate(rings[0].inputs):
        for index, tensor in enumerate(tensors):
            scale, offset = random.uniform(0.5, 2), random.uniform(-1, 1)
            values = random.standard_normal(tensor.shape, np.float32) * np.float32(
                scale
            ) + np.float32(offset)
            for ring in rings:
                ring.inputs[slot][index][...] = values


def change(
    rings: list[Ring], slots: list[int], random: "np.random.Generator", stride: int = 251
) -> None:
    """The secret sparse change: every 251st element redrawn from a random first one."""
    for slot in slots:
        for index, tensor in enumerate(rings[0].inputs[slot]):
            first = int(random.integers(stride))
            values = random.standard_normal(-(-(tensor.size - first) // stride), np.float32)
            for ring in rings:
                ring.inputs[slot][index].reshape(-1)[first::stride] = values


# ---- correctness -------------------------------------------------------------------------------


def errors(got: "np.ndarray", want: "np.ndarray") -> tuple[float, float]:
    difference = np.abs(got.astype(np.float64) - want)
    if not np.isfinite(difference).all():
        return float("inf"), float("inf")
    return float(difference.max()), float(np.sqrt((difference**2).mean()))


def tolerance(
    operation: str, inputs: list["np.ndarray"], want: "np.ndarray", ulps: int = 2
) -> dict[str, tuple[float, float]]:
    """Section 3 of the trust rules: (largest, RMS) of e0's parts and of the limit."""
    run = OPERATIONS[operation]["run"]
    native, serial = errors(run(*inputs), want), errors(run(*inputs, total=serial_sum), want)
    scales = (float(np.abs(want).max()), float(np.sqrt((want**2).mean())))
    floors = [ulps * float(np.spacing(np.float32(scale))) for scale in scales]
    limit = tuple(
        max(4 * max(n, s), floor) for n, s, floor in zip(native, serial, floors, strict=True)
    )
    return {
        "native": native,
        "serial": serial,
        "limit": (limit[0], limit[1]),
        "floor": (floors[0], floors[1]),
    }


def expect(operation: str, inputs: list["np.ndarray"]) -> "np.ndarray":
    return OPERATIONS[operation]["run"](*[tensor.astype(np.float64) for tensor in inputs])


# ---- timing ------------------------------------------------------------------------------------


def by_calls(blocks: "np.ndarray") -> "np.ndarray":
    """Paired log-ratios, call by call: (blocks, calls)."""
    return blocks[:, 0] - blocks[:, 1]


def by_blocks(blocks: "np.ndarray", reduce: Callable) -> "np.ndarray":
    """One log-ratio a block, of the blocks' minima or medians."""
    return reduce(blocks[:, 0], axis=1, keepdims=True) - reduce(blocks[:, 1], axis=1, keepdims=True)


def half_width(
    blocks: "np.ndarray", clustered: bool, level: float = 98.75, draws: int = 2000
) -> tuple[float, float]:
    """Centre and half-width of the bootstrap interval of the median log-ratio.

    `blocks` is pairs by block.
    """
    random = np.random.default_rng(1)
    data = blocks if clustered else blocks.reshape(-1, 1)
    picks = data[random.integers(len(data), size=(draws, len(data)))].reshape(draws, -1)
    low, high = np.percentile(np.median(picks, axis=1), [50 - level / 2, 50 + level / 2])
    return float((low + high) / 2), float((high - low) / 2)


def write_through_cache(memory: "np.ndarray", value: int) -> None:
    """In pieces of 1 MiB.

    A larger memset takes non-temporal stores, which pass the cache by and flush nothing.
    """
    for start in range(0, len(memory), 1 << 20):
        memory[start : start + (1 << 20)].fill(value & 0xFF)


class Pair:
    """Two workers with the same inputs, timed in ABBA blocks."""

    def __init__(
        self,
        operation: str,
        libraries: list[pathlib.Path],
        slots: int,
        flush: int,
        seed: int = 1,
        shared: str = "inputs",
    ) -> None:
        self.operation, self.random = operation, np.random.default_rng(secrets.randbits(64))
        marks = [clock()]
        self.workers = [Worker() for _ in libraries]
        for worker, library in zip(self.workers, libraries, strict=True):
            worker.load(library, operation)
        marks.append(clock())
        self.rings = [Ring(self.workers[0], operation, slots, flush)]
        self.rings += [
            Ring(worker, operation, slots, flush, self.rings[0], shared)
            for worker in self.workers[1:]
        ]
        self.distinct = self.rings if shared == "" else self.rings[:1]
        marks.append(clock())
        fill(self.distinct, seed)
        marks.append(clock())
        self.parts = dict(
            zip(
                ("spawn_sandbox_load", "allocate_rings", "base_inputs"),
                np.diff(marks).tolist(),
                strict=True,
            )
        )
        self.claims: list[tuple[int, float, int]] = []
        self.flush_buffer = np.zeros(flush, np.uint8)
        self.sides = itertools.cycle([(0, 1), (1, 0)])
        for worker in self.workers:
            worker.run(list(range(slots)), "none")
        self.parts["warm_calls"] = clock() - marks[-1]

    def block(self, size: int, policy: str) -> "np.ndarray":
        """One A and one B block over the same fresh contents.

        Log of the nanoseconds, candidate's row and baseline's.
        """
        order = [int(slot) for slot in self.random.permutation(len(self.rings[0].outputs))[:size]]
        change(self.distinct, order, self.random)
        times: list[list[int]] = [[], []]
        for side in next(self.sides):
            self.rings[side].poison(order)
            if policy == "verifier":
                write_through_cache(self.flush_buffer, order[0])
            times[side], wall = self.workers[side].run(order, policy)
            self.claims.append((sum(times[side]), wall, size))
        return np.log(np.array(times))

    def close(self) -> list[float]:
        """Kill both workers; returns milliseconds."""
        for ring in self.rings:
            ring.close()
        return [worker.kill() for worker in self.workers]


def cache_size(quick: bool) -> dict[str, Any]:
    """The smallest write after which a copy of 4 MiB stops slowing."""
    source, target = np.ones(1 << 20, np.float32), np.ones(1 << 20, np.float32)
    filler = np.ones(256 << 20, np.uint8)
    writes = (0, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
    times: dict[int, list[float]] = {mebibytes: [] for mebibytes in writes}
    for index in range(9 if quick else 31):
        for mebibytes in writes:
            np.copyto(target, source)
            write_through_cache(filler[: mebibytes << 20], index)
            start = clock()
            np.copyto(target, source)
            times[mebibytes].append((clock() - start) * 1e3)
    curve = {
        mebibytes: round(float(np.percentile(column, 20)), 4) for mebibytes, column in times.items()
    }
    low, plateau = (
        min(curve.values()),
        statistics.median([cost for mebibytes, cost in curve.items() if mebibytes >= 48]),
    )
    size = next(
        mebibytes for mebibytes, cost in curve.items() if cost >= plateau - 0.1 * (plateau - low)
    )
    return {"copy_ms_after_mib": curve, "effective_mib": size, "flush_mib": 2 * size}


def layouts(
    operation: str, library: pathlib.Path, flush: int, seconds: float
) -> list[dict[str, Any]]:
    """A/A in every layout, interleaved round by round so that drift meets all of them alike."""
    pair = Pair(operation, [library] * 2, 10, flush)
    configurations = [
        (size, policy) for policy in ("block", "call", "verifier") for size in (1, 3, 5, 10)
    ] + [(5, "none")]
    samples: dict[tuple[int, str], list[np.ndarray]] = {key: [] for key in configurations}
    spent = dict.fromkeys(configurations, 0.0)
    claims: dict[tuple[int, str], list] = {key: [] for key in configurations}
    while min(spent.values()) < seconds:
        for key in configurations:
            pair.claims.clear()
            start = clock()
            while clock() - start < seconds / 6:
                samples[key].append(pair.block(*key))
            spent[key] += clock() - start
            claims[key] += pair.claims
    pair.close()
    rows = []
    for key, blocks in samples.items():
        every = np.array(blocks)
        data = by_calls(every)
        extra = [(wall - claimed) / 1e3 for claimed, wall, _ in claims[key]]
        rows.append(
            {
                "operation": operation,
                "block": key[0],
                "flush": key[1],
                "seconds": round(spent[key], 2),
                "pairs": data.size,
                "half_width_clustered_pct": round(100 * half_width(data, True)[1], 3),
                "half_width_independent_pct": round(100 * half_width(data, False)[1], 3),
                "half_width_of_block_medians_pct": round(
                    100 * half_width(by_blocks(every, np.median), True)[1], 3
                ),
                "half_width_of_block_minima_pct": round(
                    100 * half_width(by_blocks(every, np.min), True)[1], 3
                ),
                "median_pct": round(100 * float(np.median(data)), 3),
                "pair_sd_pct": round(100 * float(data.std()), 2),
                "call_ms": round(float(np.exp(np.median(every))) / 1e6, 3),
                "first_over_later": round(
                    float(np.exp(np.median(every[:, :, 0]) - np.median(every[:, :, 1:]))), 3
                )
                if key[0] > 1
                else None,
                "wall_minus_claimed_us": [
                    round(float(q), 1) for q in np.percentile(extra, [50, 90, 99])
                ],
            }
        )
    return rows


def same_same(
    operation: str, library: pathlib.Path, flush: int, block: int, pairs: int
) -> dict[str, Any]:
    """A/A half-widths at the looks, and how often a window of 30 pairs excludes zero."""
    pair = Pair(operation, [library] * 2, 10, flush)
    start = clock()
    every = np.array([pair.block(block, "block") for _ in range(pairs // block)])
    data = by_calls(every)
    seconds = clock() - start
    claimed, wall = (np.array(column, float) for column in list(zip(*pair.claims, strict=True))[:2])
    sizes = [size for size in (30, 100, 300) if size <= data.size]
    windows = [
        data[i : i + 30 // block] for i in range(0, len(data) - 30 // block + 1, 30 // block)
    ]
    wrong = [
        abs(centre) > width for centre, width in (half_width(window, False) for window in windows)
    ]
    pair.close()
    return {
        "operation": operation,
        "library": library.stem,
        "block": block,
        "seconds_per_100_pairs": round(100 * seconds / data.size, 2),
        "half_width_pct": {
            size: round(100 * half_width(data[: size // block], False)[1], 3) for size in sizes
        },
        "half_width_clustered_pct": {
            size: round(100 * half_width(data[: size // block], True)[1], 3) for size in sizes
        },
        "half_width_block_minima_pct": {
            size: round(100 * half_width(by_blocks(every[: size // block], np.min), True)[1], 3)
            for size in sizes
        },
        "centre_pct": round(100 * half_width(data, False)[0], 3),
        "windows_excluding_zero": f"{sum(wrong)}/{len(wrong)}",
        "wall_over_claimed_pct": [
            round(float(q), 3) for q in np.percentile(100 * (wall / claimed - 1), [1, 50, 99])
        ],
        "wall_minus_claimed_us": [
            round(float(q), 1) for q in np.percentile((wall - claimed) / 1e3, [1, 50, 99])
        ],
    }


def fresh_pairs(
    operation: str, library: pathlib.Path, flush: int, threads: int, shared: str, count: int
) -> dict[str, Any]:
    """A/A with new processes each time.

    Does the centre move more from pair to pair than its interval allows?
    """
    before, ENVIRONMENT["OMP_NUM_THREADS"] = ENVIRONMENT["OMP_NUM_THREADS"], str(threads)
    rows = []
    for _ in range(count):
        pair = Pair(operation, [library] * 2, 5, flush, shared=shared)
        data = by_calls(np.array([pair.block(3, "block") for _ in range(20)]))
        rows.append(
            [round(100 * value, 2) for value in (*half_width(data, False), float(np.median(data)))]
        )
        pair.close()
    ENVIRONMENT["OMP_NUM_THREADS"] = before
    centres = [row[2] for row in rows]
    return {
        "operation": operation,
        "library": library.stem,
        "threads": threads,
        "shared_memory": shared or "none",
        "centre_half_width_median_pct": rows,
        "sd_of_medians_pct": round(statistics.stdev(centres), 2),
        "median_of_medians_pct": round(statistics.median(centres), 2),
        "excluding_zero": f"{sum(abs(centre) > width for centre, width, _ in rows)}/{count}",
    }


# ---- a whole verdict ---------------------------------------------------------------------------


def build(source: pathlib.Path, folder: pathlib.Path) -> tuple[pathlib.Path, float]:
    library, start = folder / f"{source.stem}.so", clock()
    subprocess.run(["g++", *FLAGS, str(source), "-o", str(library)], check=True)
    return library, clock() - start


def screen(operation: str, candidate: str, folder: pathlib.Path, flush: int) -> dict[str, Any]:
    """Seconds by part of one verdict.

    Build, spawn, three correctness calls, thirty pairs, three timed calls checked.
    """
    parts: dict[str, float] = {}
    start = clock()

    def mark(name: str) -> None:
        nonlocal start
        parts[name] = parts.get(name, 0) + clock() - start
        start = clock()

    library = build(HERE / "kernels" / f"{operation}_{candidate}.cpp", folder)[0]
    mark("build")
    pair = Pair(
        operation, [library, folder / f"{operation}_plain.so"], 5, flush, seed=secrets.randbits(32)
    )
    parts.update(pair.parts)
    start = clock()
    verdicts, ratios = [], []
    ring, order = pair.rings[0], [0, 1, 2]

    def check(slots: list[int]) -> None:
        nonlocal start
        for slot in slots:
            want = expect(operation, ring.inputs[slot])
            mark("oracle_f64")
            limit = tolerance(operation, ring.inputs[slot], want)["limit"]
            mark("e0_f32_serial")
            found = errors(ring.outputs[slot], want)
            verdicts.append(found[0] <= limit[0] and found[1] <= limit[1])
            verdicts.append(
                ring.guards_hold() and not (ring.outputs[slot].view(np.uint32) == POISON).any()
            )
            mark("compare_numpy")

    change(pair.distinct, order, pair.random)
    ring.poison(order)
    mark("inputs")
    pair.workers[0].run(order, "none")
    mark("calls")
    check(order)
    for index in range(6):
        ratios.append(pair.block(5, "block"))
        mark("timing")
        if index % 2:
            check([int(pair.random.integers(5))])
    centre, width = half_width(by_calls(np.array(ratios)), False)
    mark("bootstrap")
    pair.close()
    mark("kill")
    return {
        "operation": operation,
        "candidate": candidate,
        "seconds": round(sum(parts.values()), 3),
        "parts": {name: round(value, 3) for name, value in parts.items()},
        "accepted": all(verdicts),
        "speedup": round(float(np.exp(-centre)), 3),
        "half_width_pct": round(100 * width, 2),
    }


def honest(operation: str, libraries: dict[str, pathlib.Path], seeds: int) -> list[dict[str, Any]]:
    """How many honest candidates the rule rejects, and how near to the limit they come."""
    rows = []
    for name, library in libraries.items():
        margins, floors, rejected = [], 0, 0
        for seed in range(seeds):
            pair = Pair(operation, [library], 1, 1 << 20, seed=seed)
            want = expect(operation, pair.rings[0].inputs[0])
            limit, found = (
                tolerance(operation, pair.rings[0].inputs[0], want),
                errors(pair.rings[0].outputs[0], want),
            )
            ratio = [f / top for f, top in zip(found, limit["limit"], strict=True)]
            margins.append(ratio)
            rejected += max(ratio) > 1
            half = errors(want.astype(np.float16), want)
            rounding = min(f / top for f, top in zip(half, limit["limit"], strict=True))
            floors += limit["limit"][0] == limit["floor"][0]
            last = {
                key: [float(f"{value:.3g}") for value in values] for key, values in limit.items()
            }
            pair.close()
        worst = [round(max(column), 3) for column in zip(*margins, strict=True)]
        rows.append(
            {
                "operation": operation,
                "candidate": name,
                "seeds": seeds,
                "rejected": rejected,
                "worst_over_limit_max_rms": worst,
                "limit_set_by_ulp_floor": floors,
                "float16_rounding_over_limit": round(rounding, 1),
                "found_last": [float(f"{v:.3g}") for v in found],
                "last": last,
            }
        )
    return rows


def comparison_costs(folder: pathlib.Path) -> dict[str, Any]:
    """Poison, guard and comparison of 4M elements.

    In numpy and in a compiled library (one thread).
    """
    library, seconds = build(HERE / "kernels" / "check.cpp", folder)
    check = ctypes.CDLL(str(library))
    random, n, tile = np.random.default_rng(3), 1 << 22, 4096
    want = random.standard_normal(n)
    got = want.astype(np.float32)
    result = np.zeros(5)
    pointer = lambda array: ctypes.c_void_p(array.ctypes.data)  # noqa: E731

    def in_numpy() -> list[float]:
        wide = got.astype(np.float64)
        mismatch = ((np.isnan(wide) != np.isnan(want)) | (np.isinf(wide) != np.isinf(want))).sum()
        difference = np.abs(wide - want)
        tiles = difference.reshape(-1, tile).max(axis=1)
        return [
            float(difference.max()),
            float((difference * difference).sum()),
            float(mismatch),
            int(tiles.argmax()),
            float(tiles.max()),
        ]

    def compiled() -> None:
        check.compare(
            pointer(got), pointer(want), ctypes.c_int64(n), ctypes.c_int64(tile), pointer(result)
        )

    compiled()
    agree = np.allclose(result, in_numpy(), rtol=1e-9)
    words = got.view(np.uint32).copy()
    n64, pattern = ctypes.c_int64(n), ctypes.c_uint32(POISON)
    return {
        "build_s": round(seconds, 3),
        "agree": bool(agree),
        "compare_ms": {"numpy": milliseconds(in_numpy), "compiled": milliseconds(compiled)},
        "poison_ms": {
            "numpy": milliseconds(lambda: words.fill(POISON)),
            "compiled": milliseconds(lambda: check.poison(pointer(words), n64, pattern)),
        },
        "poison_left_ms": {
            "numpy": milliseconds(lambda: bool((words == POISON).any())),
            "compiled": milliseconds(lambda: check.count_equal(pointer(words), n64, pattern)),
        },
        "sparse_change_ms": milliseconds(
            lambda: got.__setitem__(
                slice(7, None, 251), random.standard_normal(len(got[7::251]), np.float32)
            )
        ),
        "full_redraw_ms": milliseconds(lambda: random.standard_normal(n, np.float32, out=got), 5),
    }


def reuse_costs() -> dict[str, float]:
    """A ring of five softmax slots.

    First allocation against mapping existing pages in a second worker.
    """
    size, ms = 5 * (1 << 25), {}
    fd = os.memfd_create("ring", os.MFD_CLOEXEC)
    os.ftruncate(fd, size)
    for name in ("allocate_and_map", "map_again", "map_third"):
        start = clock()
        memory = mmap.mmap(fd, size, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE)
        ms[name] = round((clock() - start) * 1e3, 2)
        memory.close()
    os.close(fd)
    return ms


def noop(folder: pathlib.Path) -> dict[str, Any]:
    library, _ = build(HERE / "kernels" / "noop.cpp", folder)
    pair = Pair("noop", [library], 1, 1 << 20)
    times, wall = pair.workers[0].run([0] * 1000, "none")
    single = [pair.workers[0].run([0], "none") for _ in range(300)]
    pair.close()
    return {
        "call_ns_median": statistics.median(times),
        "call_ns_p99": sorted(times)[990],
        "block_of_1000_wall_us": round(wall / 1e3, 1),
        "lone_call_ns": statistics.median(t[0] for t, _ in single),
        "lone_wall_us": round(statistics.median(w for _, w in single) / 1e3, 1),
    }


def facts() -> dict[str, Any]:
    cpu = [
        line.split(":")[1].strip()
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    cache = pathlib.Path("/sys/devices/system/cpu/cpu0/cache/index3/size")
    return {
        "cpu": cpu[0] if cpu else platform.machine(),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "python": sys.version.split()[0],
        "l3_reported": cache.read_text().strip() if cache.exists() else None,
        "load": os.getloadavg(),
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "command": ["probe.py", *sys.argv[1:]],
        "uid": os.getuid(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--layers-only", action="store_true")
    options = parser.parse_args()
    report: dict[str, Any] = {"facts": facts()}

    def add(name: str, value: Any) -> None:
        report[name] = value
        print(
            f"== {name}",
            *(
                [json.dumps(row) for row in value]
                if isinstance(value, list)
                else [json.dumps(value)]
            ),
            sep="\n",
            flush=True,
        )
        if options.json:
            options.json.write_text(json.dumps(report, indent=1) + "\n")

    if os.geteuid() == 0:
        add("layers_as_root", layers(user=False))
    add("layers_as_user", layers(user=True))
    if options.layers_only:
        return
    quick = options.quick
    report["facts"]["numpy"] = np.__version__
    report["facts"]["gxx"] = subprocess.run(
        ["g++", "-dumpfullversion"], capture_output=True, text=True, check=True
    ).stdout.strip()
    OPERATIONS["noop"] = {
        "run": None,
        "inputs": [(16,)],
        "output": (16,),
        "scalars": [],
        "axes": [],
    }
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        add("spawn_ms", spawn_costs(5 if quick else 15))
        add("cache", cache_size(quick))
        flush = report["cache"]["flush_mib"] << 20
        add("noop", noop(folder))
        add("ring_160_mib_ms", reuse_costs())
        add("comparison", comparison_costs(folder))
        built = {}
        for operation, kind in itertools.product(
            ("softmax", "rmsnorm", "matmul"), ("plain", "fast")
        ):
            built[operation, kind] = build(HERE / "kernels" / f"{operation}_{kind}.cpp", folder)
        add("build_s", {f"{a}_{b}": round(seconds, 3) for (a, b), (_, seconds) in built.items()})
        names = ("softmax", "rmsnorm", "matmul")
        add(
            "honest",
            [
                row
                for op in names
                for row in honest(
                    op, {k: built[op, k][0] for k in ("plain", "fast")}, 2 if quick else 6
                )
            ],
        )
        add(
            "screen",
            [screen(op, kind, folder, flush) for op in names for kind in ("plain", "fast")],
        )
        add(
            "layouts",
            [
                row
                for op in ("rmsnorm", "matmul")
                for row in layouts(op, built[op, "fast"][0], flush, 0.4 if quick else 2.4)
            ],
        )
        add(
            "same_same",
            [
                same_same(op, built[op, kind][0], flush, block, 60 if quick else 300)
                for op in names
                for kind in ("plain", "fast")
                for block in (1, 5)
            ],
        )
        fewer = max(1, (os.cpu_count() or 2) - 1)
        add(
            "fresh_pairs",
            [
                fresh_pairs(op, built[op, kind][0], flush, fewer, shared, 4 if quick else 12)
                for op in ("rmsnorm", "matmul")
                for kind in ("plain", "fast")
                for shared in ("", "inputs", "all")
            ],
        )


if __name__ == "__main__":
    main()
