"""A core for each thread of a BLAS, so that none waits for another that it keeps from running.

OpenBLAS's threads wait for one another by spinning. Two that the system puts on one core, as it
does when others want the rest, take turns of whole time slices: a short product then takes many
times as long.
"""

import itertools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

_TASKS = Path("/proc/self/task")
_PROCESSES = ("os.fork", "os.posix_spawn", "subprocess.Popen")
"""Audit events of Python that come before a process inherits the cores of who starts it; before a
thread does, there is none in Python 3.11.
"""


class Seats:
    """The cores of this process and who sits where; nobody does until :meth:`take`.

    What the user's reference starts would inherit the one core of the first thread, which
    therefore gets up, for good, as soon as there are other threads than the BLAS's.
    """

    def __init__(self) -> None:
        self._cores = os.sched_getaffinity(0)
        self._known = 0

    def take(self) -> None:
        """Seat the threads that exist, once; called when only numpy and scipy are imported.

        Each of the two has a BLAS of its own, whose threads come one after the other.
        """
        if self._known or len(self._cores) < 2:
            return
        first, *others = sorted(self._cores)
        first_thread, *threads = _threads()
        self._known = 1 + len(threads)
        sys.addaudithook(self._heard)
        Thread.start = self._before(Thread.start)  # type: ignore[assignment, method-assign]
        os.sched_setaffinity(first_thread, {first})
        for thread, core in zip(threads, itertools.cycle(others), strict=False):
            os.sched_setaffinity(thread, {core})

    def look(self) -> None:
        """Give the first thread all cores if there are threads that were not seated."""
        if self._known and len(_threads()) > self._known:
            self._get_up()

    def _heard(self, event: str, _: object) -> None:
        if event in _PROCESSES:
            self._get_up()

    def _before(self, start: Callable[[Thread], None]) -> Callable[[Thread], None]:
        def started(thread: Thread) -> None:
            self._get_up()
            start(thread)

        return started

    def _get_up(self) -> None:
        os.sched_setaffinity(os.getpid(), self._cores)


def _threads() -> list[int]:
    """All of this process, the first one first, the others by their age."""
    found = {int(path.name) for path in _TASKS.iterdir()}
    return [os.getpid(), *sorted(found - {os.getpid()})]
