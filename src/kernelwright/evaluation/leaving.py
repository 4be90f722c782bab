"""Ends a process of ours from wherever it is when it is told to, and lets it clean up."""

import signal
import sys
from types import FrameType

AGAIN_S = 0.05
"""An exception that arises in a destructor is dropped by Python: it is raised until one holds."""


def leave_on_sigterm() -> None:
    """From now on, SIGTERM raises :class:`SystemExit` in the main thread, silently."""
    report = sys.unraisablehook

    def unheard(dropped: "sys.UnraisableHookArgs") -> None:
        if not isinstance(dropped.exc_value, SystemExit):
            report(dropped)

    sys.unraisablehook = unheard
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGALRM, _leave)


def stay() -> None:
    """What cleans up is no longer disturbed."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 0.0)


def _leave(_number: int, _frame: FrameType | None) -> None:
    signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
    raise SystemExit(0)
