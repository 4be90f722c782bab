"""What a worker that had to be killed left on the machine, before the next one is judged.

Killing takes the whole group and its namespace; what escapes all the same, or is still being
taken down, would make whoever comes next look slow. So the cores are felt from a new process and
compared with what could be had when the session was opened.
"""

import time
from collections.abc import Callable
from typing import Any

from kernelwright.devices.occupied import lost_cores
from kernelwright.records.outcome import Outcome

KILLED = frozenset(
    {
        Outcome.TIMEOUT,
        Outcome.CRASHED,
        Outcome.OUT_OF_MEMORY,
        Outcome.TAMPERING,
        Outcome.DEFERRED_WORK,
    }
)
"""Outcomes whose worker died or was killed in the middle of something."""
MOST_CORES = 0.25
"""More than at the opening of the session; a process that uses a whole core takes half of it."""
MOST_SECONDS = 3.0
"""How long leftovers are waited for."""
PAUSE_S = 0.1


class Aftermath:
    """Remembers how free the machine was.

    Args:
        probe: cores that a new process would lack.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        probe: Callable[[], float] = lost_cores,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._probe, self._sleep = probe, sleep
        self._usual = probe()
        self._left = 0.0

    def ended(self, outcome: Outcome) -> None:
        """Somebody was judged; if the worker had to be killed, wait until nothing is left of it."""
        if outcome not in KILLED:
            return
        for _ in range(round(MOST_SECONDS / PAUSE_S)):
            self._look()
            if not self._left:
                return
            self._sleep(PAUSE_S)

    def labels(self) -> dict[str, Any]:
        """What the next verdict must say: the cores that leftovers still take, if they do."""
        if self._left:
            self._look()
        return {"leftovers_on_cores": round(self._left, 2)} if self._left else {}

    def _look(self) -> None:
        more = self._probe() - self._usual
        self._left = more if more > MOST_CORES else 0.0
