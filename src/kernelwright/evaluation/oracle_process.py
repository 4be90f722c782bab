"""The oracle's process: started clean, listened to, killed with all it started.

Knows nothing of tasks. What the process prints is read for as long as it prints, so that it never
blocks, and only the end is kept.
"""

import os
import shutil
import signal
import subprocess
import threading
import time

from kernelwright.errors import JudgeError, TaskError
from kernelwright.evaluation.channel import Channel, ChannelError
from kernelwright.sandbox.scratch import scratch

START_SECONDS = 60.0
TAIL_BYTES = 16 << 10
NESTED = "KERNELWRIGHT_ORACLE"
"""Set inside the oracle: a reference that asks for its own judgement must not start another."""
_PASSED = ("PATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "VIRTUAL_ENV")


class OracleProcess:
    """One started process in a session of its own, with an empty folder as its home.

    Args:
        python: the interpreter.

    Raises:
        JudgeError: it does not come up.
        TaskError: called from within a reference.
    """

    def __init__(self, python: str) -> None:
        if os.environ.get(NESTED):
            raise TaskError(
                "a reference asked for its own judgement while it was being loaded",
                hint='put what runs on import under: if __name__ == "__main__"',
            )
        self.folder = str(scratch("oracle"))
        self.channel, theirs = Channel.pair()
        self._printed = bytearray()
        reading, writing = os.pipe()
        try:
            self._process = subprocess.Popen(
                [python, "-I", "-m", "kernelwright.evaluation.oracle", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                cwd=self.folder,
                env=self._environment(),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as problem:
            os.close(reading)
            self.channel.close()
            shutil.rmtree(self.folder, ignore_errors=True)
            raise JudgeError(f"cannot start {python}: {problem}") from problem
        finally:
            theirs.close()
            os.close(writing)
        self.pid = self._process.pid
        self._reader = threading.Thread(
            target=_drain, args=(reading, self._printed), name="oracle output", daemon=True
        )
        self._reader.start()
        try:
            self.channel.receive(START_SECONDS)
        except ChannelError as problem:
            self.kill()
            raise JudgeError(
                f"the oracle did not start: {problem}\n{self.output()}".rstrip(),
                hint=f"{python} -c 'import kernelwright' must work",
            ) from problem

    def runs(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def code(self) -> int | None:
        """Its exit code, negative for a signal; None if it goes on although it broke off."""
        try:
            return self._process.wait(5)
        except subprocess.TimeoutExpired:
            return None

    def tell_where(self) -> None:
        """Let it print where it is; works while Python code or a system call runs."""
        self._process.send_signal(signal.SIGUSR1)
        time.sleep(0.3)

    def output(self) -> str:
        """The last part of what was printed."""
        return bytes(self._printed).decode("utf-8", "replace").strip()

    def kill(self) -> None:
        """End it and everything it started, and remove its folder; may be called twice."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()
        self._process.wait()
        self.channel.close()
        self._reader.join(2)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _PASSED if name in os.environ}
        own = {"HOME": self.folder, "TMPDIR": self.folder, "LANG": "C.UTF-8", NESTED: "1"}
        return kept | own


def signal_name(number: int) -> str:
    """The name of a signal, or its number in words."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _drain(descriptor: int, kept: bytearray) -> None:
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        while part := stream.read(1 << 16):
            kept += part
            if len(kept) > 2 * TAIL_BYTES:
                del kept[:-TAIL_BYTES]
