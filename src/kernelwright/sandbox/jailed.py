"""A started process of the jail: what it printed, what confines it, and its certain end."""

import contextlib
import json
import logging
import os
import select
import signal
import subprocess
import threading
from typing import Any, Literal

from kernelwright.errors import JudgeError, PrerequisiteError
from kernelwright.records.evaluation import Sandbox
from kernelwright.sandbox.started import Started

Mode = Literal["auto", "require", "off"]
_REPORT_CAP = 64 << 10
_GRACE_S = 5.0
_KILLED_S = 30.0
"""How long a killed process may take to go: the system may still be writing for it."""
_log = logging.getLogger(__name__)


class Jailed:
    """A started process and everything that it may start.

    Made by :func:`kernelwright.sandbox.spawn` and by a zygote. Killed on leaving a ``with`` block.

    Args:
        process: what was started, in a session of its own.
        lifeline: our end of the pipe whose closing ends it.
        report: our end of the pipe on which it tells its layers.
        mode: how strictly it confines itself.
        output_cap: bytes kept of each of stdout and stderr.
        watched: whether it has a watcher once it has reported.
    """

    def __init__(
        self,
        process: Started,
        lifeline: int,
        report: int,
        mode: Mode,
        output_cap: int,
        *,
        watched: bool | None = None,
    ) -> None:
        self._process = process
        self._watched = mode != "off" if watched is None else watched
        self._lifeline = lifeline
        self._mode = mode
        self._pipes = [pipe for pipe in (process.stdout, process.stderr) if pipe is not None]
        self._stdout, self._stderr = Ends(output_cap), Ends(output_cap)
        self._report = Ends(2 * _REPORT_CAP)
        self._reported = threading.Event()
        self._stop, self._stopped = os.pipe()
        self._lock = threading.Lock()
        printed = zip(self._pipes, (self._stdout, self._stderr), strict=True)
        sinks = {pipe.fileno(): ends for pipe, ends in printed} | {report: self._report}
        self._reader = threading.Thread(target=self._drain, args=(sinks, report), daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The started process; in a namespace of its own the worker has another identity."""
        return self._process.pid

    @property
    def stdout(self) -> bytes:
        """What was kept of its output up to now; never waits."""
        return self._stdout.kept()

    @property
    def stderr(self) -> bytes:
        """What was kept of its errors up to now; never waits."""
        return self._stderr.kept()

    def tail(self, size: int = 2000) -> str:
        """The last of what it printed, errors after output."""
        return (self.stdout + self.stderr)[-size:].decode(errors="replace")

    def poll(self) -> int | None:
        """Exit code (negative: a signal), or None while it runs."""
        with self._lock:
            return self._process.poll()

    def wait(self, timeout: float | None = None) -> int | None:
        """Exit code, or None if it still runs after ``timeout`` seconds.

        When it has ended, everything it started has ended too (except in the mode ``off``), and
        its output is complete.
        """
        if self.poll() is None:
            self._await(timeout)
        code = self.poll()
        if code is not None:
            self._reader.join(1.0)
        return code

    def _await(self, timeout: float | None) -> None:
        try:
            handle = os.pidfd_open(self.pid)
        except OSError:  # it is gone, or the kernel does not know this: then by looking often
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout)
            return
        try:
            ready = select.poll()
            ready.register(handle, select.POLLIN)
            ready.poll(None if timeout is None else max(timeout, 0) * 1e3)
        finally:
            os.close(handle)

    def confinement(self, timeout: float = 30.0) -> Sandbox:
        """The layers that are active, as soon as the process has confined itself.

        Raises:
            PrerequisiteError: the mode is ``require`` and a layer is missing.
            JudgeError: the process died or hung before it was confined.
        """
        report = self.report(timeout)
        if self._mode == "require" and report["lacking"]:
            raise _missing(report)
        return Sandbox(
            active=tuple(report["active"]),
            unavailable=tuple(f"{name}: {why}" for name, why in report["unavailable"].items()),
        )

    def report(self, timeout: float = 30.0) -> dict[str, Any]:
        """``active``, ``unavailable`` (layer to reason), ``lacking`` (promises), ``ms`` (by layer).

        Raises:
            JudgeError: the process died or hung before it was confined.
        """
        self._reported.wait(timeout)
        try:
            found: dict[str, Any] = json.loads(self._report.kept())
        except ValueError as problem:
            self.kill()
            raise JudgeError(
                "a process of the sandbox failed before it was confined", self.tail()
            ) from problem
        return found

    def kill(self) -> None:
        """End it and everything that it started; returns when all are gone. May be repeated."""
        with self._lock:
            running = self._process.poll() is None
            lifeline, self._lifeline = self._lifeline, -1
        if lifeline >= 0:
            # The watcher sees this; it exits when the last process of the jail has gone.
            with contextlib.suppress(BrokenPipeError):
                os.write(lifeline, b"k")
            os.close(lifeline)
        if running:
            watched = self._watched and self._reported.is_set()
            if not watched or self.wait(_GRACE_S) is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.pid, signal.SIGKILL)
            if self.wait(_KILLED_S) is None:
                _log.warning("process %d does not go although it was killed", self.pid)
        self._finish()

    def __enter__(self) -> "Jailed":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _finish(self) -> None:
        with self._lock:
            stopped, self._stopped = self._stopped, -1
        if stopped >= 0:
            os.close(stopped)
            self._reader.join(_GRACE_S)
            for pipe in self._pipes:
                pipe.close()

    def _drain(self, sinks: dict[int, "Ends"], report: int) -> None:
        """Read whatever comes, so that the process never blocks; keep only the ends of it."""
        ready = select.poll()
        for descriptor in (*sinks, self._stop):
            ready.register(descriptor, select.POLLIN)
        left = set(sinks)
        while left:
            for descriptor, _ in ready.poll():
                if descriptor == self._stop:
                    left.clear()
                    break
                part = os.read(descriptor, 1 << 16)
                sinks[descriptor].add(part)
                if not part:
                    ready.unregister(descriptor)
                    left.discard(descriptor)
                    if descriptor == report:
                        self._reported.set()
        self._reported.set()
        os.close(report)
        os.close(self._stop)


class Ends:
    """The first and the last bytes of a stream, whatever its length.

    Args:
        cap: most bytes kept.
    """

    def __init__(self, cap: int) -> None:
        self._half = max(cap // 2, 1)
        self._first = bytearray()
        self._last = bytearray()
        self._dropped = 0
        self._lock = threading.Lock()

    def add(self, part: bytes) -> None:
        """The next piece of the stream."""
        with self._lock:
            room = self._half - len(self._first)
            self._first += part[:room]
            self._last += part[room:]
            excess = len(self._last) - self._half
            if excess > 0:
                del self._last[:excess]
                self._dropped += excess

    def kept(self) -> bytes:
        """What was kept; says in the middle how much was left out."""
        with self._lock:
            gap = b"\n[... %d bytes left out ...]\n" % self._dropped if self._dropped else b""
            return bytes(self._first) + gap + bytes(self._last)


def _missing(report: dict[str, Any]) -> PrerequisiteError:
    reasons = "; ".join(f"{name}: {why}" for name, why in report["unavailable"].items())
    return PrerequisiteError(
        f"this machine cannot promise: {', '.join(report['lacking'])} ({reasons})",
        hint="use the sandbox mode 'auto' to go on with the layers that there are",
    )
