"""A process that has imported the framework and forks a worker for each candidate.

Importing takes seconds, forking a fraction of one. The zygote holds nothing of ours but modules of
the jail and never runs anything of a candidate's; what it forks is a child of *this* process
(``CLONE_PARENT``), so it is waited for and killed as one that we started ourselves, and outlives
the zygote. Refuses to know what a worker does.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelwright import sandbox
from kernelwright.errors import JudgeError, PrerequisiteError
from kernelwright.sandbox import python
from kernelwright.sandbox.jailed import Jailed, Mode
from kernelwright.sandbox.started import Forked

START_SECONDS = 120.0
FORK_SECONDS = 30.0
_ANSWER = 64 << 10


class Zygote:
    """Started when first needed, and again when it has died.

    Args:
        env: the whole environment in which the framework is imported.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = dict(env)
        self._process: subprocess.Popen[bytes] | None = None
        self._sock: socket.socket | None = None

    @property
    def pid(self) -> int:
        """Its number, 0 when it does not run."""
        return self._process.pid if self._process and self._process.poll() is None else 0

    def fork(
        self,
        channel: int,
        *,
        folder: Path,
        mode: Mode,
        limits: sandbox.Limits,
        env: Mapping[str, str],
        readable: Sequence[Path] = (),
    ) -> Jailed:
        """A worker in a process of its own, which confines itself; returns at once.

        Args:
            channel: descriptor of the worker's end of its socket; stays open here.
            folder: as for :func:`kernelwright.sandbox.spawn`, like the rest.
            mode: how strictly it is confined.
            limits: most that it may use.
            env: variables besides those that every process of the jail has.
            readable: what it may read besides the interpreter's own files.

        Raises:
            PrerequisiteError: the framework cannot be imported here.
            JudgeError: no process can be forked.
        """
        folder = folder.resolve()
        spec = sandbox.specify(folder, mode, limits, (*python.needed(), *readable))
        order = {"spec": spec | {"forked": True}, "env": sandbox.environment(folder, env)}
        ours, theirs = zip(*(os.pipe() for _ in range(3)), strict=True)  # report, output, errors
        lifeline, our_lifeline = os.pipe()
        try:
            pid = self._forked(order, (channel, lifeline, *theirs))
        except BaseException:
            for descriptor in (our_lifeline, *ours):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (lifeline, *theirs):
                os.close(descriptor)
        report, stdout, stderr = ours
        process = Forked(pid, stdout, stderr)
        return Jailed(process, our_lifeline, report, mode, sandbox.OUTPUT_CAP, watched=True)

    def close(self) -> None:
        """End the zygote; what it forked goes on. May be called twice."""
        process, self._process = self._process, None
        if self._sock is not None:
            self._sock.close()
            self._sock = None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _forked(self, order: Mapping[str, Any], descriptors: tuple[int, ...]) -> int:
        for last in (False, True):
            try:
                return int(self._ask(order, descriptors)["pid"])
            except (OSError, ValueError, KeyError) as problem:
                # A zygote that was killed, for its memory perhaps, is no reason to give up.
                self.close()
                if last:
                    raise JudgeError(f"no worker can be forked: {problem}") from problem
        raise AssertionError

    def _ask(self, order: Mapping[str, Any], descriptors: tuple[int, ...]) -> dict[str, Any]:
        if not self.pid or self._sock is None:
            self.close()
            self._start()
        if self._sock is None:
            raise OSError("it did not start")
        socket.send_fds(self._sock, [json.dumps(order).encode()], descriptors)
        return self._answer(FORK_SECONDS)

    def _answer(self, seconds: float) -> dict[str, Any]:
        """Its next message.

        Raises:
            OSError: it has ended, or reports that it cannot do it.
            ValueError: nonsense.
        """
        if self._sock is None:
            raise OSError("it does not run")
        self._sock.settimeout(seconds)
        told: dict[str, Any] = json.loads(self._sock.recv(_ANSWER) or b'{"error": "it has ended"}')
        if "error" in told:
            raise OSError(str(told["error"]))
        return told

    def _start(self) -> None:
        # A packet is a message: nothing to count, nothing to cut.
        self._sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        sites = json.dumps([str(path) for path in python.sites()])
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-B", "-S", str(sandbox.JAIL / "zygote.py"),
                 str(theirs.fileno()), sites],
                env=self._env,
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
        finally:
            theirs.close()
        try:
            self._answer(START_SECONDS)
        except (OSError, ValueError) as problem:
            self.close()
            raise PrerequisiteError(
                f"torch cannot be imported: {problem}", hint="pip install torch"
            ) from problem
