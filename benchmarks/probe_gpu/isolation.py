"""Which layers of the sandbox a worker on a device survives; the layers are the CPU judge's own.

Applied in a forked process with one thread before the device is touched. Each layer is attempted
and reported; what the device needs to stay reachable is listed here.
"""

import ctypes
import os
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
JAIL = next((up / "src/kernelwright/jail" for up in HERE.parents
             if (up / "src/kernelwright/jail/layers.py").exists()), HERE)  # fmt: skip
sys.path.append(str(JAIL))
import layers  # noqa: E402

NOBODY, LOCAL = 65534, 1
ORDER = ("network", "pids", "mounts", "user", "capabilities", "no_new_privileges", "landlock",
         "hidden_memory", "system_calls", "limits")  # fmt: skip
LIMITS = {"CORE": 0, "NOFILE": 1024, "FSIZE": 1 << 30, "NPROC": 512}


def device_nodes() -> list[str]:
    return sorted(str(path) for path in Path("/dev").glob("nvidia*"))


def readable() -> list[str]:
    """Beside the system's libraries: this interpreter, this folder, the driver's own files."""
    paths = {sys.prefix, sys.base_prefix, str(HERE), str(JAIL), "/usr/local/nvidia", "/etc"}
    paths |= {path for path in sys.path if path and Path(path).is_dir()}
    return sorted(path for path in paths if Path(path).exists() and path != "/usr")


def split() -> None:
    """Goes on as process 1 of a new namespace; the parent waits and passes nothing on."""
    layers.unshare(layers.NEWPID)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        os._exit(0)
    layers.prctl(layers.PDEATHSIG, 9)


def own_proc() -> None:
    """A view of processes that can be written: the driver writes to its own entry."""
    layers.unshare(layers.NEWNS)
    layers._mount("none", "/", "", layers.RECURSIVE | layers.PRIVATE)
    layers._mount("proc", "/proc", "proc", layers.NOSUID | layers.NODEV | layers.NOEXEC)


def own_processes() -> None:
    """Process 1 of a namespace, with the view of processes that fits it."""
    split()
    own_proc()


def own_root(folder: str, seen: list[str], nodes: list[str], pids: bool) -> None:
    """The CPU judge's root, the device's nodes in it, and /proc not read-only."""
    layers.private_root(folder, seen, nodes, [], pids)
    if pids:
        own_proc()


def local_sockets() -> None:
    """Denies every socket but local ones, which the driver opens; then the CPU judge's filter."""
    number = layers._NUMBERS.pop("socket")[layers._machine()[0]]
    code = [(0x20, 0, 0, 0), (0x15, 0, 3, number), (0x20, 0, 0, 16), (0x15, 1, 0, LOCAL),
            (0x06, 0, 0, 0x50000 | 13), (0x06, 0, 0, 0x7FFF0000)]  # fmt: skip
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    header = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program))
    layers._call(layers._number("seccomp"), ctypes.c_uint(1), ctypes.c_uint(0), header)
    layers.system_calls()


def limits() -> None:
    for name, value in LIMITS.items():
        layers.limit(name, value)


def apply(spec: dict[str, Any]) -> dict[str, Any]:
    """Takes the layers asked for, in the order of the CPU judge's; what each cost, milliseconds.

    ``spec``: ``layers`` by name, ``folder`` (stays writable, becomes the working folder) and
    ``readable`` (more paths).
    """
    folder, asked = spec["folder"], spec["layers"]
    seen = [*readable(), *spec.get("readable", [])]
    nodes = device_nodes()
    whole = ["/"] if "mounts" in asked else [*layers.SYSTEM, "/proc", "/sys", *seen]
    own = [folder, *layers.DEVICES, "/dev/shm", "/dev", "/proc", *nodes]
    steps: dict[str, Callable[[], Any]] = {
        "network": lambda: layers.unshare(layers.NEWNET | layers.NEWIPC),
        "pids": own_processes,
        "mounts": lambda: own_root(folder, seen, nodes, "pids" in asked),
        "user": lambda: layers.drop_user(NOBODY, []),
        "capabilities": layers.drop_capabilities,
        "no_new_privileges": lambda: layers.prctl(layers.NO_NEW_PRIVS, 1),
        "landlock": lambda: layers.landlock(whole, own, []),
        "hidden_memory": lambda: layers.prctl(layers.DUMPABLE, 0),
        "system_calls": local_sockets,
        "limits": limits,
    }
    told: dict[str, Any] = {}
    for name in ORDER:
        if name not in asked:
            continue
        began = time.perf_counter()
        try:
            steps[name]()
            told[name] = 1e3 * (time.perf_counter() - began)
        except OSError as problem:
            told[name] = str(problem)
    return told
