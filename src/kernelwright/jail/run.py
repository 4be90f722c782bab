"""The candidate's worker: load one library, call it when told, report how long each call took.

Started as ``python -I -S run.py DESCRIPTOR SPEC`` in a process of its own, used for one
candidate, then killed. It knows addresses, never answers: expected outputs, seeds and the
verdict live elsewhere, and what it says is treated as a claim.

Uses the standard library only and refuses to import anything of ours but ``confine``.
"""

import array
import ctypes
import gc
import json
import mmap
import os
import socket
import struct
import sys
import time
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120

import confine  # type: ignore[import-not-found]

LENGTH = struct.Struct("<I")
LARGEST = 8 << 20
LIBC = ctypes.CDLL(None)
LIBM = ctypes.CDLL("libm.so.6")
MAP, UNMAP, PROTECT = LIBC.mmap, LIBC.munmap, LIBC.mprotect
MAP.restype = ctypes.c_void_p
MAP.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
UNMAP.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PROTECT.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
PDEATHSIG, SIGKILL = 1, 9
FAILED = ctypes.c_void_p(-1).value
CTYPES = {
    "float64": ctypes.c_double,
    "float32": ctypes.c_float,
    "int64": ctypes.c_int64,
    "int32": ctypes.c_int32,
    "int16": ctypes.c_int16,
    "int8": ctypes.c_int8,
    "uint8": ctypes.c_uint8,
    "bool": ctypes.c_uint8,
}


class Wire:
    """Length-prefixed JSON and descriptors over the inherited socket."""

    def __init__(self, descriptor: int) -> None:
        self.sock = socket.socket(fileno=descriptor)

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        payload = json.dumps(message, separators=(",", ":")).encode()
        self.sock.sendall(LENGTH.pack(len(payload)) + payload)

    def receive(self) -> tuple[dict[str, Any], list[int]]:
        """The next message and its descriptors; leaves the process when the socket closes."""
        fds: list[int] = []
        (length,) = LENGTH.unpack(self._exactly(LENGTH.size, fds))
        if length > LARGEST:
            sys.exit(3)
        return json.loads(self._exactly(length, fds)), fds

    def told_to_go(self) -> bool:
        """Wait for the one byte that starts a block of calls, or calls it off."""
        return self._exactly(1, []) == b"g"

    def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.sock.sendall(data)

    def _exactly(self, size: int, fds: list[int]) -> bytes:
        data = bytearray()
        while len(data) < size:
            part, new, _, _ = socket.recv_fds(self.sock, size - len(data), 8)
            fds.extend(new)
            if not part:
                os._exit(0)
            data += part
        return bytes(data)


def float_mode() -> str:
    """Rounding, flushing of denormals and exceptions of this thread; empty where not known."""
    state = ctypes.create_string_buffer(64)
    if LIBM.fegetenv(state) != 0:
        return ""
    words = struct.unpack("<16I", state.raw)
    if os.uname().machine == "x86_64":
        return f"{words[0] & 0x0F3F:x}-{words[7] & 0xFFC0:x}"
    return f"{words[0]:x}"


class Worker:
    """State of the one candidate: its library, the arenas, the prepared argument lists."""

    def __init__(self) -> None:
        self.arenas: dict[str, tuple[int, int]] = {}
        self.function: Any = None
        self.workspace_size: Any = None
        self.workspaces: list[mmap.mmap] = []
        self.keep: list[Any] = []
        self.calls: list[tuple[Any, ...]] = []

    def open(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Map an arena, its fences unreadable; a second one of the same name replaces the first."""
        (descriptor,) = fds
        access = mmap.PROT_READ | (mmap.PROT_WRITE if message["writable"] else 0)
        start = MAP(
            None, message["nbytes"], access, mmap.MAP_SHARED | mmap.MAP_POPULATE, descriptor, 0
        )
        os.close(descriptor)
        if start in (None, FAILED):
            raise MemoryError
        for fence in message["fences"]:
            PROTECT(start + fence, mmap.PAGESIZE, 0)
        old = self.arenas.pop(message["arena"], None)
        if old is not None:
            UNMAP(*old)
        self.arenas[message["arena"]] = (start, message["nbytes"])
        return {"ok": True}

    def load(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Load the library; its constructors run here."""
        before = float_mode()
        try:
            library = ctypes.CDLL(message["library"])
            self.function = getattr(library, message["entry"])
        except OSError as problem:
            return {"error": str(problem)[:2000], "kind": "load_failed"}
        except AttributeError:
            return {"error": "no symbol " + message["entry"], "kind": "missing_symbol"}
        self.function.restype = ctypes.c_int
        try:
            self.workspace_size = getattr(library, message["entry"] + "_workspace")
            self.workspace_size.restype = ctypes.c_int64
        except AttributeError:
            self.workspace_size = None
        at = ctypes.cast(self.function, ctypes.c_void_p).value
        return {"ok": True, "float_mode": before, "at": at}

    def code(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """What this process has mapped, for a verifier that is not allowed to look."""
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return {"code": file.read()}

    def bind(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        """Prepare the arguments of every slot, so that a call costs nothing but the call."""
        self.calls, self.keep = [], []
        workspace = self._workspace(message["slots"][0])
        for slot in message["slots"]:
            values = [self._value(argument) for argument in slot]
            self.calls.append(tuple(values) + workspace)
        return {"ok": True}

    def run(self, message: dict[str, Any], wire: Wire) -> None:
        """Call the entry once for each slot named; report nanoseconds and return codes.

        In two steps, so that the verifier sees little but the calls between its word and the
        report: everything is made ready first, and the report is bytes.
        """
        function = self.function
        calls = [self.calls[slot] for slot in message["slots"]]
        wait = message.get("handicap", 0)
        spent, codes = (
            array.array("q", bytes(8 * len(calls))),
            array.array("i", bytes(4 * len(calls))),
        )
        token = bytes.fromhex(message["token"])
        clock = time.perf_counter_ns
        wire.send({"armed": True, "number": message["number"], "float_mode": float_mode()})
        if not wire.told_to_go():
            return
        for number, arguments in enumerate(calls):
            start = clock()
            codes[number] = function(*arguments)
            if wait:
                until = clock()
                until += (until - start) * wait // 1000
                while clock() < until:
                    pass
            spent[number] = clock() - start
        wire.raw(token + spent.tobytes() + codes.tobytes())

    def _value(self, argument: dict[str, Any]) -> Any:
        kind = argument["t"]
        if kind == "tensor":
            return ctypes.c_void_p(self.arenas[argument["arena"]][0] + argument["place"]["offset"])
        if kind == "strides":
            values = argument["values"]
            block = (ctypes.c_int64 * max(len(values), 1))(*values)
            self.keep.append(block)
            return block
        if kind == "axis":
            return ctypes.c_int64(argument["value"])
        return CTYPES[argument["dtype"]](argument["value"])

    def _workspace(self, slot: list[dict[str, Any]]) -> tuple[Any, ...]:
        if self.workspace_size is None:
            return ()
        axes = [ctypes.c_int64(item["value"]) for item in slot if item["t"] == "axis"]
        size = max(int(self.workspace_size(*axes)), 1)
        block = mmap.mmap(-1, size + 4096)
        self.workspaces.append(block)
        return (ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(block))),)


def main() -> None:
    """Answer messages until the socket closes or we are killed."""
    wire = Wire(int(sys.argv[1]))

    confine.apply(json.loads(sys.argv[-1]) | {"threads_only": True})
    LIBC.prctl(PDEATHSIG, SIGKILL, 0, 0, 0)
    gc.disable()
    wire.send({"ready": True})
    worker = Worker()
    while True:
        message, fds = wire.receive()
        if message["do"] == "run":
            worker.run(message, wire)
            continue
        try:
            answer = getattr(worker, message["do"])(message, fds)
        except MemoryError:
            answer = {"error": "out of memory", "kind": "out_of_memory"}
        except (OSError, ValueError, OverflowError, ctypes.ArgumentError) as problem:
            answer = {"error": str(problem)[:2000], "kind": "worker"}
        wire.send({**answer, "number": message["number"]})


if __name__ == "__main__":
    main()
