"""What this process must still have after the user's code ran in it.

A reference may do to its process what it likes; without its descriptors or limits the process
cannot answer, and that must be told as what it is, not as a fault of ours.
"""

import os
import resource
import sys

from kernelwright.evaluation.oracle.fault import Fault

_NAMES = {1: "standard output", 2: "standard error"}


class Belongings:
    """Descriptors and limits as they were.

    Args:
        channel: descriptor on which answers are sent.
    """

    def __init__(self, channel: int) -> None:
        self._channel = channel
        self._files = {number: _identity(number) for number in (*_NAMES, channel)}
        self._limits = _limits()

    def cut_off(self) -> bool:
        """Whether no answer can be sent any more."""
        return _identity(self._channel) != self._files[self._channel]

    def missing(self) -> Fault | None:
        """What was taken away, if anything was."""
        for number, name in _NAMES.items():
            if _identity(number) != self._files[number]:
                return Fault("process", f"the reference closed or replaced {name} of its process")
        for name, now in _limits().items():
            before = self._limits[name]
            if now < before:
                was = "no limit" if before == float("inf") else f"{before:g}"
                return Fault(
                    "process", f"the reference lowered {name} of its process: {was} to {now:g}"
                )
        return None


def _identity(number: int) -> tuple[int, int]:
    try:
        found = os.fstat(number)
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino


def _limits() -> dict[str, float]:
    known = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    found = {name: resource.getrlimit(getattr(resource, name))[0] for name in known}
    limits = {
        name: float("inf") if value == resource.RLIM_INFINITY else float(value)
        for name, value in found.items()
    }
    return {**limits, "the recursion limit": float(sys.getrecursionlimit())}
