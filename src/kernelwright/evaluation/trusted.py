"""A process of ours beside the judge: started plainly, killed with its group."""

import contextlib
import os
import signal
import subprocess


class Trusted:
    """A process of ours, started plainly in its own process group.

    Args:
        command: program and arguments.
        environment: the whole environment of the process.
        descriptors: what it inherits.
    """

    def __init__(
        self, command: list[str], environment: dict[str, str], descriptors: tuple[int, ...]
    ) -> None:
        self._process = subprocess.Popen(
            command,
            env=environment,
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """Identity of the process."""
        return self._process.pid

    def poll(self) -> int | None:
        """Exit code (negative: a signal), or None while it runs."""
        return self._process.poll()

    def kill(self) -> None:
        """End it and its process group."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def tail(self, size: int = 2000) -> str:
        """Nothing is kept of what it prints."""
        return ""
