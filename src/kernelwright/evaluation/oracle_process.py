"""The oracle's process: started clean, listened to, killed with all it started.

Knows nothing of tasks. What the process prints is read for as long as it prints, so that it never
blocks, and only the end is kept.
"""

import os
import re
import shutil
import signal
import threading
import time
from pathlib import Path

from kernelwright.errors import JudgeError, TaskError, scarce
from kernelwright.evaluation.channel import Channel, ChannelError
from kernelwright.evaluation.guarded import Guarded
from kernelwright.sandbox.scratch import scratch

START_SECONDS = 60.0
TAIL_BYTES = 16 << 10
NESTED = "KERNELWRIGHT_ORACLE"
"""Set inside the oracle: a reference that asks for its own judgement must not start another."""
_STACK = re.compile(r"^(?:Current thread|Thread) 0x[0-9a-f]+.*most recent call first", re.MULTILINE)
_PASSED = ("PATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "VIRTUAL_ENV")


class OracleProcess:
    """One started process in a session of its own, with an empty folder as its home.

    Args:
        python: the interpreter.

    Raises:
        JudgeError: it does not come up.
        TaskError: called from within a reference.
        PrerequisiteError: there is no room for its folder, or for another process.
    """

    def __init__(self, python: str) -> None:
        if os.environ.get(NESTED):
            raise TaskError(
                "a reference asked for its own judgement while it was being loaded",
                hint='put what runs on import under: if __name__ == "__main__"',
            )
        self._printed = bytearray()
        self._process: Guarded | None = None
        self._reader: threading.Thread | None = None
        self.folder = scratch("oracle")
        self.channel, theirs = Channel.pair()
        try:
            try:
                self._start(python, theirs.fileno())
            finally:
                theirs.close()
            self.channel.receive(START_SECONDS)
        except ChannelError as problem:
            self.kill()
            raise JudgeError(
                f"the oracle did not start: {problem}\n{self.output()}".rstrip(),
                hint=f"{python} -c 'import kernelwright' must work",
            ) from problem
        except OSError as problem:
            self.kill()
            raise scarce(problem) or JudgeError(f"cannot start {python}: {problem}") from problem
        except BaseException:
            self.kill()
            raise

    def _start(self, python: str, channel: int) -> None:
        reading, writing = os.pipe()
        self._reader = threading.Thread(
            target=_drain, args=(reading, self._printed), name="oracle output", daemon=True
        )
        self._reader.start()
        try:
            self._process = Guarded(
                "kernelwright.evaluation.oracle",
                channel,
                self._environment(),
                python=python,
                folder=self.folder,
                output=writing,
            )
        finally:
            os.close(writing)

    @property
    def pid(self) -> int:
        """Identity of the process that was started; 0 if none was."""
        return self._process.pid if self._process else 0

    def runs(self) -> bool:
        """Whether it has not ended yet."""
        return self._process is not None and self._process.poll() is None

    def code(self) -> int | None:
        """Its exit code, negative for a signal; None if it goes on although it broke off."""
        return self._process.wait(5) if self._process else None

    def tell_where(self) -> None:
        """Let it print where it is; works while Python code or a system call runs."""
        if self._process:
            self._process.signal(signal.SIGUSR1)
        time.sleep(0.3)

    def output(self) -> str:
        """The last part of what was printed."""
        return bytes(self._printed).decode("utf-8", "replace").strip()

    def kill(self) -> None:
        """End it and everything it started, and remove its folder; may be called twice."""
        if self._process:
            self._process.kill()
        self.channel.close()
        if self._reader:
            self._reader.join(2)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _PASSED if name in os.environ}
        home = str(self.folder)
        return kept | {"HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", NESTED: "1"}


def where(printed: str, path: str) -> tuple[str, str]:
    """What the user's code printed, and the line of a file at which a process said that it is.

    Args:
        printed: by the process, stacks of its threads at the end.
        path: of the file.

    Returns:
        The first without stacks, and a place to begin a sentence with: empty where none of the
        file's lines was running.
    """
    first = _STACK.search(printed)
    if first is None:
        return printed, ""
    at = re.search(rf'^  File "{re.escape(path)}", line (\d+)', printed, re.MULTILINE)
    place = f"{Path(path).name}:{at[1]}: " if path and at else ""
    return printed[: first.start()].rstrip(), place


def _drain(descriptor: int, kept: bytearray) -> None:
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        while part := stream.read(1 << 16):
            kept += part
            if len(kept) > 2 * TAIL_BYTES:
                del kept[:-TAIL_BYTES]
