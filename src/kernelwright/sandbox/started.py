"""Started processes as the jail needs them: ``subprocess.Popen``, or one that a zygote forked."""

import os
import subprocess
import threading
import time
from typing import IO, Protocol

LOOK_SECONDS = 0.005
"""Between two looks, where nobody tells us of an end; :class:`Jailed` is told by the kernel."""


class Started(Protocol):
    """The part of ``subprocess.Popen`` that is needed of a started process."""

    pid: int
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    def poll(self) -> int | None:
        """Exit code (negative: a signal), or None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Exit code.

        Raises:
            subprocess.TimeoutExpired: it still runs.
        """


class Forked:
    """A child of ours that another child forked, with the interface of ``subprocess.Popen``.

    Args:
        pid: its number; we are its parent.
        stdout: our end of the pipe that it prints to.
        stderr: the same for its errors.
    """

    def __init__(self, pid: int, stdout: int, stderr: int) -> None:
        self.pid = pid
        self.stdout: IO[bytes] | None = os.fdopen(stdout, "rb", buffering=0)
        self.stderr: IO[bytes] | None = os.fdopen(stderr, "rb", buffering=0)
        self._code: int | None = None
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """Exit code (negative: a signal), or None while it runs."""
        with self._lock:
            if self._code is None:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self._code = os.waitstatus_to_exitcode(status)
            return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Exit code.

        Raises:
            subprocess.TimeoutExpired: it still runs.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if until is not None and time.monotonic() >= until:
                raise subprocess.TimeoutExpired(["a forked process"], timeout or 0)
            time.sleep(LOOK_SECONDS)
        return code
