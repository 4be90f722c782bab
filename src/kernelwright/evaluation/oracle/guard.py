"""Stands guard over a process in which the user's code runs: what that starts ends with it.

Called once, by a process with one thread, before anything of the user's is read. Runs none of it
itself.
"""

import contextlib
import ctypes
import os
import select
import signal
from pathlib import Path
from typing import NoReturn

PDEATHSIG, DUMPABLE, SUBREAPER = 1, 4, 36
MOST_FILES = 1 << 20
"""Where as many as one likes may be open, closing each of them would take minutes."""
LOOK = os.WEXITED | os.WNOHANG | os.WNOWAIT
_LIBC = ctypes.CDLL(None)


def guard(lifeline: int) -> None:
    """Return in a new process, closed to others; the old one stays behind as its guard.

    Args:
        lifeline: read end of a pipe; when the other end is closed, all is over.
    """
    _prctl(DUMPABLE, 0)
    _prctl(SUBREAPER, 1)
    own = os.getpid()
    process = os.fork()
    if process:
        _watch(process, lifeline)
    os.close(lifeline)
    os.setpgid(0, 0)  # else a signal to its own group would hit the guard
    _prctl(PDEATHSIG, signal.SIGKILL)
    if os.getppid() != own:
        os._exit(1)


def _watch(process: int, lifeline: int) -> NoReturn:
    def pass_on(*_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGUSR1)

    signal.signal(signal.SIGUSR1, pass_on)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.closerange(3, lifeline)
    os.closerange(lifeline + 1, min(os.sysconf("SC_OPEN_MAX"), MOST_FILES))
    ready = select.poll()
    ready.register(lifeline, select.POLLIN)
    try:
        ready.register(os.pidfd_open(process), select.POLLIN)
        ready.poll()
    except OSError:  # a kernel that does not know it
        while not ready.poll(20) and not os.waitid(os.P_PID, process, LOOK):
            pass
    os.kill(process, signal.SIGKILL)  # no effect where it has ended: it is not reaped yet
    status = os.waitpid(process, 0)[1]
    _sweep()
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(OSError):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


def _sweep() -> None:
    """Kill what is left; orphans are given to a subreaper, so none escapes."""
    while True:
        for child in _children():
            os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return


def _children() -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                if int(fields[1]) == os.getpid():
                    found.append(int(entry.name))
    return found


def _prctl(option: int, value: int) -> None:
    _LIBC.prctl(option, value, 0, 0, 0)
