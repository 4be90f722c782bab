"""Imports the frameworks once, never touches the device, and forks a worker for each candidate.

Started with the number of a socket. Each message carries one descriptor, the worker's end of its
own channel; the answer is the worker's process id. A worker leads its own session, and dies with
the zygote, as the zygote dies with whoever started it.
"""

import ctypes
import importlib
import os
import signal
import socket
import sys
import time
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from channel import Channel, Gone

FRAMEWORKS = ("torch", "torch.autograd.profiler", "triton", "triton.language")
DIE_WITH_PARENT = 1


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)


def touched_device() -> bool:
    """Whether a device node is open: a fork of such a process could not use the device."""
    links = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            links.append(str(entry.readlink()))
        except OSError:
            continue
    return any(link.startswith("/dev/nvidia") for link in links)


def fork_worker(zygote_end: socket.socket, descriptor: int, layers: dict[str, Any]) -> int:
    """The process id of a new session's leader; confined, the worker is a child of it."""
    child = os.fork()
    if child:
        os.close(descriptor)
        return child
    try:
        os.setsid()
        die_with_parent()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        zygote_end.close()
        import isolation
        import worker

        told = isolation.apply(layers) if layers else {}
        die_with_parent()  # a change of user cleared it
        worker.main(Channel(socket.socket(fileno=descriptor)), told)
    except BaseException:  # noqa: BLE001 a fork must never return into the zygote's loop
        traceback.print_exc()
    finally:
        os._exit(1)


def main() -> None:
    die_with_parent()
    began = time.perf_counter()
    for name in FRAMEWORKS:
        importlib.import_module(name)
    importlib.import_module("worker")
    importlib.import_module("isolation")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    end = socket.socket(fileno=int(sys.argv[1]))
    channel = Channel(end)
    channel.send(
        {
            "import_s": time.perf_counter() - began,
            "touched_device": touched_device(),
            "threads": len(list(Path("/proc/self/task").iterdir())),
        }
    )
    while True:
        try:
            asked, fds = channel.receive(None)
        except Gone:
            return
        channel.send({"pid": fork_worker(end, fds[0], asked.get("layers", {}))})


if __name__ == "__main__":
    main()
