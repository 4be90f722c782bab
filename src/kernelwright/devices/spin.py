"""Spin on every core for a moment and print how much of each was had, as a share of 1.

Started as a program of its own, with the standard library and nothing of ours: whoever measures
what a killed process left must not be what that process may have harmed.
"""

import os
import sys
import time


def share(core: int, seconds: float) -> float:
    """The share of ``core`` that this process gets while it spins for so many seconds."""
    os.sched_setaffinity(0, {core})
    used, began = time.process_time(), time.perf_counter()
    while time.perf_counter() - began < seconds:
        pass
    return (time.process_time() - used) / (time.perf_counter() - began)


def main() -> None:
    """A process for each core, all at once."""
    seconds, receiving = float(sys.argv[1]), []
    for core in os.sched_getaffinity(0):
        mine, theirs = os.pipe()
        if os.fork() == 0:
            os.write(theirs, b"%.6f\n" % share(core, seconds))
            os._exit(0)
        os.close(theirs)
        receiving.append(mine)
    for one in receiving:
        os.write(1, os.read(one, 64))


if __name__ == "__main__":
    main()
