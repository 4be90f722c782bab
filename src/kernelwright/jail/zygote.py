"""Import the framework once, then fork a worker for each candidate that is asked for.

Started as ``python -I -B -S zygote.py DESCRIPTOR SITES``: its end of a packet socket, and a JSON
list of folders with packages. An order is JSON with five descriptors: the worker's socket, the
lifeline, the pipe for the report of its layers, output, errors. The answer is the new process.

No site file is read, no folder of anybody's is on the path, and nothing of a candidate's ever runs
here. There is one thread: a fork copies no other.
"""

# ruff: noqa: PTH100, PTH120, PTH208

from __future__ import annotations

import ctypes
import json
import os
import socket
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter's lock during a call
PYTHON.syscall.restype = ctypes.c_long
CLONE = {"x86_64": 56, "aarch64": 220}
CLONE_PARENT, CHILD, PDEATHSIG, KILL = 0x8000, 17, 1, 9
ORDER, DESCRIPTORS = 64 << 10, 5


def clone() -> int:
    """Fork a sibling: its parent is our parent, which thus can wait for it and kill it for certain.

    The C library is not told of the new process, which must therefore soon fork a proper one or
    end; ``confine.apply`` does the former.

    Raises:
        OSError: there is no room, or the machine is unknown.
    """
    if len(os.listdir("/proc/self/task")) != 1:
        raise OSError("the zygote has more than one thread")
    number = CLONE.get(os.uname().machine)
    if number is None:
        raise OSError(f"unknown machine {os.uname().machine}")
    zero = ctypes.c_ulong(0)
    flags = ctypes.c_ulong(CLONE_PARENT | CHILD)
    pid = int(PYTHON.syscall(ctypes.c_long(number), flags, zero, zero, zero, zero))
    if pid < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return pid


def become(worker: Any, order: dict[str, Any], descriptors: list[int]) -> None:
    """Turn this fresh process into a worker; returns when its work is over."""
    channel, lifeline, report, output, errors = descriptors
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (output, 1), (errors, 2)):
        os.dup2(source, target)
        os.close(source)
    os.environ.clear()
    os.environ.update(order["env"])
    worker.main(channel, {**order["spec"], "lifeline": lifeline, "report": report})


def serve(sock: socket.socket, worker: Any) -> NoReturn:
    """Answer orders until the other side closes."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(sock, ORDER, DESCRIPTORS)
        if not data:
            os._exit(0)
        answer: dict[str, Any]
        try:
            pid = clone()
        except OSError as problem:
            answer = {"error": str(problem)}
        else:
            if pid == 0:
                sock.close()
                run(worker, json.loads(data), descriptors)
            answer = {"pid": pid}
        for descriptor in descriptors:
            os.close(descriptor)
        sock.send(json.dumps(answer).encode())


def run(worker: Any, order: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Be a worker and end; whatever happens, nobody returns to the loop of the zygote."""
    code = 1
    try:
        become(worker, order, descriptors)
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        raise
    finally:
        os._exit(code)


def main() -> None:
    """Import, then serve."""
    sock = socket.socket(fileno=int(sys.argv[1]))
    ctypes.CDLL(None).prctl(PDEATHSIG, KILL, 0, 0, 0)
    sys.path += json.loads(sys.argv[2])
    sys.path.insert(0, HERE)
    try:
        import python_worker  # type: ignore[import-not-found]
    except Exception as problem:  # noqa: BLE001 - whatever an import can raise is the answer
        sock.send(json.dumps({"error": f"{type(problem).__name__}: {problem}"[:2000]}).encode())
        return
    finally:
        sys.path[:] = [folder for folder in sys.path if folder != HERE]
    tqdm = sys.modules.get("tqdm")
    if tqdm is not None:
        tqdm.tqdm.monitor_interval = 0  # its thread would look like work left over
    del sys.argv[1:]
    sock.send(b"{}")
    serve(sock, python_worker)


if __name__ == "__main__":
    main()
