"""One candidate's process: primed before the candidate is known, used once, then killed.

It imports torch, Triton and this folder's device module, applies no judgement, and answers with
raw samples. Everything it says is a claim. Times are microseconds unless a name says otherwise.
"""

import ctypes
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from channel import Channel, Gone
from device import (
    POINTER,
    U32,
    U64,
    Block,
    Code,
    DeviceError,
    Events,
    attribute,
    call,
    driver,
    open_block,
    read_u32,
    synchronize,
)

MOST_CALLS = 40


def kernels_of(results: Any) -> list[dict[str, Any]]:
    """Device activities of a raw trace: name, stream, duration."""
    found = []
    for event in results.events():
        if event.device_type() != torch.autograd.DeviceType.CUDA:
            continue
        stream = event.device_resource_id()
        found.append([event.name()[:80], stream, event.duration_ns() / 1e3])
    return found


class Trace:
    """The raw profiler, without torch.profiler's processing of what it saw."""

    def __init__(self) -> None:
        from torch.autograd import profiler

        self.raw = profiler
        self.shape = profiler.profile(use_cpu=False, use_kineto=True, use_device="cuda")

    def start(self) -> None:
        config, what = self.shape.config(create_trace_id=True), self.shape.kineto_activities
        self.raw._prepare_profiler(config, what)
        self.raw._enable_profiler(self.shape.config(create_trace_id=False), what)

    def stop(self) -> list[dict[str, Any]]:
        return kernels_of(self.raw._disable_profiler())


class View:
    """Device memory as torch takes it: an address, a shape, and no owner."""

    def __init__(self, address: int, shape: list[int], code: str) -> None:
        self.__cuda_array_interface__ = {
            "shape": tuple(shape),
            "typestr": code,
            "data": (address, False),
            "version": 3,
        }


def tensor_at(address: int, shape: list[int], dtype: str) -> torch.Tensor:
    if dtype == "bf16":
        return torch.as_tensor(View(address, shape, "<i2"), device="cuda").view(torch.bfloat16)
    return torch.as_tensor(View(address, shape, "<f4"), device="cuda")


def load_module(path: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Worker:
    """What one process does for the verifier, verb by verb."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.calls: list[Callable[[], Any]] = []
        self.blocks: list[Block] = []
        self.cache_hits: list[bool] = []

    # ------------------------------------------------------------ before the candidate

    def prime(self, cubin: str, cache: str) -> dict[str, Any]:
        """Context, cuBLAS, a Triton launch, the profiler: whatever is slow only the first time."""
        parts, began = {}, time.perf_counter()

        def lap(name: str) -> None:
            nonlocal began
            torch.cuda.synchronize()
            parts[name], began = time.perf_counter() - began, time.perf_counter()

        torch.cuda.init()
        torch.cuda.set_stream(torch.cuda.Stream())  # not the default one: it waits for others
        x = torch.ones(64, 64, device="cuda", dtype=torch.bfloat16)
        lap("context_s")
        torch.matmul(torch.softmax(x, -1), x)
        lap("operations_s")
        os.environ["TRITON_CACHE_DIR"] = cache
        load_module(str(Path(__file__).with_name("primer.py")), "primer").add_one(x)
        lap("triton_s")
        self.trace = Trace()
        self.trace.start()
        torch.softmax(x, -1)
        self.trace.stop()
        lap("profiler_s")
        self.stream = driver.CUstream(torch.cuda.current_stream().cuda_stream)
        self.code = Code(Path(cubin), self.stream)
        self.events = Events(2 * MOST_CALLS + 2)
        self.scratch_bytes = 2 * attribute("L2_CACHE_SIZE") + (8 << 20)
        self.scratch = call(driver.cuMemAlloc(self.scratch_bytes))
        self.spin(1000)
        lap("own_s")
        return {**parts, "confined": self.confined}

    # ------------------------------------------------------------ the candidate

    def load(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Maps the ring and loads the candidate; no call yet."""
        began = time.perf_counter()
        sizes = message["sizes"]
        slots = [open_block(fd, size) for fd, size in zip(fds, sizes, strict=True)]
        self.blocks += slots
        mapped = time.perf_counter()
        inputs, outputs = slots[::2], slots[1::2]
        if message["kind"] == "cuda":
            self.calls = self.library_calls(message, inputs, outputs)
        else:
            os.environ["TRITON_CACHE_DIR"] = message.get("cache") or ""
            self.listen()
            self.calls = self.module_calls(message, inputs, outputs)
        return {"map_s": mapped - began, "load_s": time.perf_counter() - mapped}

    def library_calls(self, message: dict, inputs: list[Block], outputs: list[Block]) -> list:
        entry = getattr(ctypes.CDLL(message["path"]), message["entry"])
        entry.restype = ctypes.c_int
        axes = [ctypes.c_int64(n) for n in message["axes"]]
        stream = POINTER(int(self.stream))
        calls = []
        for ours, out in zip(inputs, outputs, strict=True):
            parts = [POINTER(ours.address + at) for at in message["offsets"]]
            calls.append(self.checked(entry, [*parts, POINTER(out.address), *axes, stream]))
        return calls

    @staticmethod
    def checked(entry: Any, arguments: list[Any]) -> Callable[[], None]:
        def run() -> None:
            code = entry(*arguments)
            if code:
                raise DeviceError(f"returned {code}")

        return run

    def module_calls(self, message: dict, inputs: list[Block], outputs: list[Block]) -> list:
        entry = getattr(load_module(message["path"], "candidate"), message["entry"])
        values, axes, dtype = message["values"], message["axes"], message["dtype"]
        calls = []
        for ours, out in zip(inputs, outputs, strict=True):
            shapes = zip(message["offsets"], message["shapes"], strict=True)
            parts = [tensor_at(ours.address + at, shape, dtype) for at, shape in shapes]
            parts.append(tensor_at(out.address, message["out_shape"], dtype))
            calls.append(lambda parts=parts: entry(*parts, *axes, **values))
        return calls

    def listen(self) -> None:
        """Notes for each Triton compilation whether the cache had it."""
        from triton import knobs

        knobs.compilation.listener = lambda **told: self.cache_hits.append(told["cache_hit"])

    # ------------------------------------------------------------ calls

    def spin(self, microseconds: float) -> None:
        self.code("spin", 1, 1, (int(1e3 * microseconds), U64))

    def flush(self) -> None:
        words = self.scratch_bytes // 4
        call(driver.cuMemsetD32Async(self.scratch, 0x5A5A5A5A, words, self.stream))

    def single(self, message: dict[str, Any], _: list[int]) -> dict[str, Any]:
        began = time.perf_counter()
        self.calls[message["slot"]]()
        synchronize()
        return {"seconds": time.perf_counter() - began, "cache_hits": self.cache_hits}

    def block(self, message: dict[str, Any], _: list[int]) -> dict[str, Any]:
        """Calls queued behind a spinning kernel: device time of each, and of the whole queue."""
        slots, tail = message["slots"], message.get("tail_cycles", 0)
        last = 2 * MOST_CALLS
        began = time.perf_counter()
        if message["head_us"]:
            self.spin(message["head_us"])
        self.events.record(last, self.stream)
        for i, slot in enumerate(slots):
            self.flush()
            self.events.record(2 * i, self.stream)
            self.calls[slot]()
            if tail:
                self.code("spin_cycles", 1, 1, (tail, U64))
            self.events.record(2 * i + 1, self.stream)
        self.events.record(last + 1, self.stream)
        queued = time.perf_counter()
        synchronize()
        return {
            "us": [self.events.between(2 * i, 2 * i + 1) for i in range(len(slots))],
            "span_us": self.events.between(last, last + 1),
            "queue_us": 1e6 * (queued - began),
        }

    def joined(self, message: dict[str, Any], _: list[int]) -> dict[str, Any]:
        """Each call alone, its stop recorded only after everything on the device has ended."""
        taken, walls, queued = [], [], []
        for slot in message["slots"]:
            self.flush()
            synchronize()
            began = time.perf_counter()
            self.events.record(0, self.stream)
            self.calls[slot]()
            queued.append(1e6 * (time.perf_counter() - began))
            synchronize()
            self.events.record(1, self.stream)
            synchronize()
            walls.append(1e6 * (time.perf_counter() - began))
            taken.append(self.events.between(0, 1))
        return {"us": taken, "wall_us": walls, "queue_us": queued}

    def traced(self, message: dict[str, Any], _: list[int]) -> dict[str, Any]:
        """The same calls under the device trace, without head start."""
        began = time.perf_counter()
        self.trace.start()
        for slot in message["slots"]:
            self.flush()
            self.calls[slot]()
        synchronize()
        kernels = self.trace.stop()
        return {"kernels": kernels[:800], "seconds": time.perf_counter() - began}

    # ------------------------------------------------------------ questions about sharing

    def peek(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Opens shared memory and reads past its end, as a curious candidate would."""
        began = time.perf_counter()
        block = open_block(fds[0], message["size"], writable=message.get("writable", True))
        opened = time.perf_counter() - began
        inside = read_u32(block.address)[0]
        if message.get("write"):
            self.code("fill_words", 1, 32, (block.address, POINTER), (32, U64), (7, U32))
            synchronize()
        found = call(driver.cuMemAlloc(4))
        beyond = block.address + message["at"]
        self.code("peek", 1, 1, (beyond, POINTER), (int(found), POINTER))
        synchronize()
        return {
            "open_us": 1e6 * opened,
            "address": block.address,
            "inside": inside,
            "beyond": read_u32(int(found))[0],
        }

    def peek_ipc(self, message: dict[str, Any], _: list[int]) -> dict[str, Any]:
        """The same through a handle of the older kind, on memory of an ordinary allocation."""
        handle = driver.CUipcMemHandle()
        handle.reserved = bytes.fromhex(message["handle"])
        began = time.perf_counter()
        lazy = driver.CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
        address = int(call(driver.cuIpcOpenMemHandle(handle, int(lazy.value))))
        opened = time.perf_counter() - began
        found = call(driver.cuMemAlloc(4))
        self.code("peek", 1, 1, (address + message["at"], POINTER), (int(found), POINTER))
        synchronize()
        inside = read_u32(address)[0]
        return {"open_us": 1e6 * opened, "inside": inside, "beyond": read_u32(int(found))[0]}


VERBS = ("load", "single", "block", "joined", "traced", "peek", "peek_ipc")


def answer(worker: Worker, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
    verb = message["verb"]
    if verb == "prime":
        return worker.prime(message["cubin"], message["cache"])
    if verb not in VERBS:
        raise ValueError(verb)
    return getattr(worker, verb)(message, fds)


def main(channel: Channel, confined: dict[str, Any]) -> None:
    sys.stdout = sys.stderr
    worker = Worker(channel)
    worker.confined = confined
    while True:
        try:
            message, fds = channel.receive(None)
        except Gone:
            os._exit(0)
        try:
            reply = answer(worker, message, fds)
        except Exception as problem:  # noqa: BLE001 whatever a candidate raises is its answer
            reply = {"error": type(problem).__name__, "text": str(problem)[:2000]}
        channel.send({**reply, "number": message["number"]})
