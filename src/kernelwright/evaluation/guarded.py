"""A process of ours in which code of the user's runs, and its certain end.

What is started is a guard (``oracle/guard.py``), which starts the process proper. It sees when its
lifeline closes, because we asked or because we are gone, and leaves nothing behind of whatever the
user's code started, in whatever session.
"""

import contextlib
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

GRACE_S = 5.0
KILLED_S = 30.0
BROKE = 87
"""Exit code of such a process when the fault is ours."""
CUT_OFF = 86
"""Exit code when the user's code took away the descriptor on which it would have answered."""
_log = logging.getLogger(__name__)


class Guarded:
    """One started process.

    Args:
        module: started as ``python -I -m MODULE CHANNEL LIFELINE``.
        channel: descriptor of its channel.
        environment: the whole environment of the process.
        python: the interpreter.
        folder: its working folder; None: ours.
        output: descriptor that takes what it prints; None: nothing does.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(
        self,
        module: str,
        channel: int,
        environment: dict[str, str],
        *,
        python: str = sys.executable,
        folder: Path | None = None,
        output: int | None = None,
    ) -> None:
        lifeline, self._lifeline = os.pipe()
        printed = subprocess.DEVNULL if output is None else output
        try:
            self._process = subprocess.Popen(
                [python, "-I", "-m", module, str(channel), str(lifeline)],
                env=environment,
                cwd=folder,
                pass_fds=(channel, lifeline),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                start_new_session=True,
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(lifeline)

    @property
    def pid(self) -> int:
        """Identity of the guard."""
        return self._process.pid

    def poll(self) -> int | None:
        """Exit code (negative: a signal), or None while it runs."""
        return self._process.poll()

    def wait(self, seconds: float) -> int | None:
        """Exit code, or None if it still runs after so long."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def signal(self, number: int) -> None:
        """Send a signal; the guard passes ``SIGUSR1`` on."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it and everything that it started; may be repeated."""
        lifeline, self._lifeline = self._lifeline, -1
        if lifeline >= 0:
            os.close(lifeline)
        if self.wait(GRACE_S) is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            if self.wait(KILLED_S) is None:
                _log.warning("process %d does not go although it was killed", self.pid)

    def tail(self, size: int = 2000) -> str:
        """Nothing is kept here of what it prints."""
        return ""


def signal_name(number: int) -> str:
    """The name of a signal, or its number in words."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
