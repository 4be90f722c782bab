"""Which layers of the sandbox a worker on a device survives; the layers are the CPU judge's own.

Applied in a forked process with one thread before the device is touched. Each layer is attempted
and reported; what the device needs to stay reachable is listed here.
"""

import os
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

NOBODY = 65534
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
    own = [folder, *layers.DEVICES, "/dev/shm", "/dev", *nodes]  # noqa: S108
    steps: dict[str, Callable[[], Any]] = {
        "network": lambda: layers.unshare(layers.NEWNET | layers.NEWIPC),
        "pids": split,
        "mounts": lambda: layers.private_root(folder, seen, nodes, [], "pids" in asked),
        "user": lambda: layers.drop_user(NOBODY, []),
        "capabilities": layers.drop_capabilities,
        "no_new_privileges": lambda: layers.prctl(layers.NO_NEW_PRIVS, 1),
        "landlock": lambda: layers.landlock(whole, own, []),
        "hidden_memory": lambda: layers.prctl(layers.DUMPABLE, 0),
        "system_calls": layers.system_calls,
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
