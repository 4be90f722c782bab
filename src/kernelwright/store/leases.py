"""Who works on a run: two processes must never continue the same one.

Refuses to guess across machines: there only the lease's end frees a run; on one machine a dead
process is recognised at once, so that a killed run can be resumed immediately.
"""

import os
import socket
import time
from pathlib import Path

from kernelwright.records.run import Status

LEASE_S = 900.0
"""How long a silent owner on another machine is believed to live."""

_PID_DIGITS = 10


def me() -> str:
    """This process: host, process id and its start, since process ids come back."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"


def alive(owner: str, lease_until: object) -> bool:
    """Whether the owner of a run may still be working on it; one that cannot be read may not.

    Args:
        owner: as stored.
        lease_until: as stored, which may be damaged: seconds since 1970.
    """
    host, *process = owner.rsplit(":", 2)
    if owner == me() or len(process) != 2:
        return False
    if host != socket.gethostname():
        return isinstance(lease_until, int | float) and time.time() < lease_until
    pid, started = process
    known = pid.isdecimal() and len(pid) <= _PID_DIGITS
    return known and bool(started) and _started(int(pid)) == started


def present(status: Status, owner: str, lease_until: object) -> Status:
    """What a run is doing now, which may differ from what it wrote last.

    Args:
        status: as stored.
        owner: who works on it, or empty.
        lease_until: until when the owner is believed without a sign of life.
    """
    if owner and (owner == me() or alive(owner, lease_until)):
        return "running"
    return "interrupted" if status == "running" else status


def _started(pid: int) -> str:
    """Start time of a process in clock ticks since boot, or empty if there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    # A zombie is dead, although its parent has not asked yet.
    return "" if fields[0] in ("Z", "X") else fields[19]
