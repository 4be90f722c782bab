"""What must be known of a GPU before anything is built for it; starts nothing on the device.

The driver's own tool is asked, from a process of its own: a driver that was once loaded does not
survive a later fork.
"""

import os
import re
import subprocess
from functools import cache

WARP = 32
"""Threads that advance together, on every architecture so far."""
_SHARED_KIB = {75: 64, 80: 163, 86: 99, 87: 163, 89: 99, 90: 227, 100: 227, 103: 227, 120: 99}
"""Most shared memory of a block, by compute capability (the programming guide's table)."""
_LEAST_SHARED_KIB = 48
_SECONDS = 30.0


@cache
def architecture() -> str:
    """Of the first GPU that this process may use, as ``sm_90a``; empty where none is seen."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    first = "0" if visible is None else visible.partition(",")[0].strip()
    if first in ("", "-1"):
        return ""
    asked = ["nvidia-smi", f"--id={first}", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        done = subprocess.run(
            asked, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    found = re.match(r"(\d{1,2})\.(\d)\s", done.stdout)
    if done.returncode or not found:
        return ""
    # What an architecture has of its own, as the warp group's products of 9.0, is behind the a.
    return f"sm_{found[1]}{found[2]}{'a' if int(found[1]) >= 9 else ''}"


def facts(name: str) -> dict[str, int]:
    """What constraints of tunables may mention of a GPU: ``warp`` and ``shared_memory``.

    Args:
        name: of an architecture, as ``sm_90a``.

    Returns:
        Threads of a warp, and bytes of shared memory that one block may ask for.
    """
    found = re.search(r"\d+", name)
    kib = _SHARED_KIB.get(int(found[0]) if found else 0, _LEAST_SHARED_KIB)
    return {"warp": WARP, "shared_memory": kib << 10}
