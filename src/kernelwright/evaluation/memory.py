"""Whether the system killed processes because memory ran out: the evidence for saying so."""

import re
from pathlib import Path

GROUPS, PROCESSES = Path("/sys/fs/cgroup"), Path("/proc")
_KILLS = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


def oom_kills(groups: Path = GROUPS, processes: Path = PROCESSES) -> int:
    """How often memory ran out where this process is accounted, or else on the whole machine.

    The kernel counts before it kills, so a number that rose belongs to a process that died. 0 where
    nothing is counted.

    Args:
        groups: where control groups are mounted.
        processes: where ``/proc`` is mounted.
    """
    for place in (*_own(groups, processes), processes / "vmstat"):
        try:
            found = _KILLS.search(place.read_text(encoding="ascii", errors="replace"))
        except OSError:
            continue
        if found:
            return int(found[1])
    return 0


def _own(groups: Path, processes: Path) -> list[Path]:
    """Where the counter of our control group may be; a container may see its own as the root."""
    try:
        lines = (processes / "self/cgroup").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    found = []
    for line in lines.splitlines():
        _, controllers, path = line.split(":", 2)
        inner = path.lstrip("/")
        if "memory" in controllers.split(","):
            found += [groups / "memory" / one / "memory.oom_control" for one in (inner, "")]
        elif not controllers:
            found += [groups / one / "memory.events" for one in (inner, "", "unified")]
    return found
