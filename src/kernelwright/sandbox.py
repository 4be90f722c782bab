"""Start a program of the jail so that it can be stopped for certain and reaches little else.

The started process confines itself (``jail/confine.py``) before it touches anything hostile; this
side gives it a folder, passes descriptors, keeps the ends of what it prints, and kills it with
all it has started. Nothing here decides whether what it says is true.
"""

import contextlib
import json
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kernelwright.errors import JudgeError, PrerequisiteError
from kernelwright.records.evaluation import Sandbox

Mode = Literal["auto", "require", "off"]
JAIL = Path(__file__).resolve().parent / "jail"
OUTPUT_CAP = 64 << 10
_NOBODY = 65534
_REPORT_CAP = 64 << 10
_GRACE_S = 5.0


@dataclass(frozen=True)
class Limits:
    """Most that each process in the jail may use; None means no limit unless it says another."""

    cpu_s: int | None = None
    """Of all threads together; None: 600 for each core."""
    memory_bytes: int | None = None
    """Address space."""
    file_bytes: int | None = 1 << 30
    files: int | None = 256
    processes: int | None = None
    """Processes and threads of the jail together; None: four a core and 64 more."""

    def by_resource(self) -> dict[str, int]:
        """Values by the name of the system's resource."""
        values = {
            "CPU": self.cpu_s or 600 * (os.cpu_count() or 1),
            "AS": self.memory_bytes,
            "FSIZE": self.file_bytes,
            "NOFILE": self.files,
            "NPROC": self.processes or 4 * (os.cpu_count() or 1) + 64,
        }
        return {name: value for name, value in values.items() if value is not None}


def spawn(
    script: str | Path,
    arguments: Sequence[str] = (),
    *,
    folder: Path,
    fds: tuple[int, ...] = (),
    mode: Mode = "auto",
    limits: Limits | None = None,
    env: Mapping[str, str] | None = None,
    readable: Sequence[Path] = (),
    writable: Sequence[Path] = (),
    output_cap: int = OUTPUT_CAP,
    site: bool = False,
) -> "Jailed":
    """Start a Python program that confines itself; returns at once.

    Args:
        script: a file of ``jail/``, or a path. Its last argument is the JSON that it hands to
            ``confine.apply``; the JSON comes after ``arguments``.
        arguments: what else it is told.
        folder: its working folder, the only one in which it may write. Given to another user
            when we are root.
        fds: descriptors that it inherits under the same numbers.
        mode: ``require`` fails rather than degrades, ``off`` sets limits only.
        limits: most that it may use.
        env: variables besides PATH, HOME, TMPDIR and LC_ALL; nothing is inherited.
        readable: paths that it may read besides the system's libraries.
        writable: more paths that it may write, for example device nodes.
        output_cap: bytes kept of each of stdout and stderr: the first half and the last half.
        site: whether it can import installed packages.

    Raises:
        PrerequisiteError: ``require`` cannot be met on this machine, or no process can be started.
    """
    folder = folder.resolve()
    lifeline, our_lifeline = os.pipe()
    our_report, report = os.pipe()
    spec = {
        "mode": mode,
        "folder": os.fspath(folder),
        "readable": [os.fspath(path) for path in readable],
        "writable": [os.fspath(path) for path in writable],
        "uid": _give_away(folder) if os.geteuid() == 0 and mode != "off" else None,
        "limits": (limits or Limits()).by_resource(),
        "lifeline": lifeline,
        "report": report,
    }
    options = ["-I", "-B"] if site else ["-I", "-B", "-S"]
    command = [sys.executable, *options, os.fspath(JAIL / script), *arguments, json.dumps(spec)]
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=_environment(folder, env or {}),
            pass_fds=(*fds, lifeline, report),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        os.close(our_lifeline)
        os.close(our_report)
        raise PrerequisiteError(f"cannot start a process: {problem}") from problem
    finally:
        os.close(lifeline)
        os.close(report)
    return Jailed(process, our_lifeline, our_report, mode, output_cap)


class Jailed:
    """A started process and everything that it may start.

    Made by :func:`spawn`. Killed on leaving a ``with`` block.
    """

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        lifeline: int,
        report: int,
        mode: Mode,
        output_cap: int,
    ) -> None:
        self._process = process
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
            watched = self._mode != "off" and self._reported.is_set()
            if not watched or self.wait(_GRACE_S) is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.pid, signal.SIGKILL)
            self.wait()
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
            self._reader.join()
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


def probe(mode: Mode = "auto") -> dict[str, Any]:
    """Which layers of isolation this machine grants; see :meth:`Jailed.report`.

    Raises:
        JudgeError: not even a process could be started and confined.
    """
    folder = Path(tempfile.mkdtemp(prefix="kernelwright-probe-"))
    start = time.perf_counter()
    try:
        with spawn("confine.py", folder=folder, mode=mode) as jailed:
            report = jailed.report()
            jailed.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {**report, "total_ms": round((time.perf_counter() - start) * 1e3, 1)}


def _environment(folder: Path, given: Mapping[str, str]) -> dict[str, str]:
    own = os.fspath(folder)
    base = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": own, "TMPDIR": own, "LC_ALL": "C.UTF-8"}
    return {**base, **given}


def _give_away(folder: Path) -> int | None:
    """Hand the folder to a user that nobody else is; the user's number, or None if impossible.

    A number of its own keeps jails apart that run at the same time. Where only few numbers are
    mapped (in a container), ``nobody`` must do.
    """
    for uid in (0x40000000 + secrets.randbelow(0x20000000), _NOBODY):
        try:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, uid, uid, follow_symlinks=False)
            return uid
        except OSError:
            continue
    return None


def _missing(report: dict[str, Any]) -> PrerequisiteError:
    reasons = "; ".join(f"{name}: {why}" for name, why in report["unavailable"].items())
    return PrerequisiteError(
        f"this machine cannot promise: {', '.join(report['lacking'])} ({reasons})",
        hint="use the sandbox mode 'auto' to go on with the layers that there are",
    )
