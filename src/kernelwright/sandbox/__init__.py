"""Start a program of the jail so that it can be stopped for certain and reaches little else.

The started process confines itself (``jail/confine.py``) before it touches anything hostile; this
side gives it a folder, passes descriptors, keeps the ends of what it prints, and kills it with
all it has started. Nothing here decides whether what it says is true.
"""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelwright.errors import PrerequisiteError
from kernelwright.sandbox.group import Group, enter
from kernelwright.sandbox.jailed import Ends, Jailed, Mode
from kernelwright.sandbox.python import of_ours
from kernelwright.sandbox.scratch import workroom

__all__ = [
    "JAIL", "Ends", "Group", "Jailed", "Limits", "Mode", "environment", "probe", "spawn", "specify",
]  # fmt: skip

JAIL = Path(__file__).resolve().parents[1] / "jail"
OUTPUT_CAP = 64 << 10
PATIENCE_S = 30.0
_NOBODY = 65534


@dataclass(frozen=True)
class Limits:
    """Most that each process in the jail may use; None means no limit unless it says another."""

    cpu_s: int | None = None
    """Of all threads together; None: 600 for each core."""
    memory_bytes: int | None = None
    """Address space."""
    file_bytes: int | None = 1 << 30
    files: int | None = 256
    processes: int | None = None
    """Processes and threads of the jail together; None: four a core and 64 more."""

    def by_resource(self) -> dict[str, int]:
        """Values by the name of the system's resource."""
        values = {
            "CPU": self.cpu_s or 600 * (os.cpu_count() or 1),
            "AS": self.memory_bytes,
            "FSIZE": self.file_bytes,
            "NOFILE": self.files,
            "NPROC": self.processes or 4 * (os.cpu_count() or 1) + 64,
        }
        return {name: value for name, value in values.items() if value is not None}


def spawn(
    script: str | Path,
    arguments: Sequence[str] = (),
    *,
    folder: Path,
    fds: tuple[int, ...] = (),
    mode: Mode = "auto",
    limits: Limits | None = None,
    env: Mapping[str, str] | None = None,
    readable: Sequence[Path] = (),
    writable: Sequence[Path] = (),
    output_cap: int = OUTPUT_CAP,
    site: bool = False,
) -> Jailed:
    """Start a Python program that confines itself; returns at once.

    Args:
        script: a file of ``jail/``, or a path. Its last argument is the JSON that it hands to
            ``confine.apply``; the JSON comes after ``arguments``.
        arguments: what else it is told.
        folder: its working folder, the only one in which it may write. Given to another user
            when we are root.
        fds: descriptors that it inherits under the same numbers.
        mode: ``require`` fails rather than degrades, ``off`` sets limits only.
        limits: most that it may use.
        env: variables besides PATH, HOME, TMPDIR, LC_ALL and LOGNAME; nothing is inherited.
        readable: paths that it may read besides the system's libraries.
        writable: more paths that it may write, for example device nodes.
        output_cap: bytes kept of each of stdout and stderr: the first half and the last half.
        site: whether it can import installed packages.

    Raises:
        PrerequisiteError: ``require`` cannot be met on this machine, or no process can be started.
        JudgeError: the :class:`Group` that the thread has joined was ended.
    """
    folder = folder.resolve()
    lifeline, our_lifeline = os.pipe()
    our_report, report = os.pipe()
    spec = specify(folder, mode, limits, readable, writable)
    spec |= {"lifeline": lifeline, "report": report}
    options = ["-I", "-B"] if site else ["-I", "-B", "-S"]
    command = [sys.executable, *options, os.fspath(JAIL / script), *arguments, json.dumps(spec)]
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(folder, env or {}),
            pass_fds=(*fds, lifeline, report),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        os.close(our_lifeline)
        os.close(our_report)
        raise PrerequisiteError(f"cannot start a process: {problem}") from problem
    finally:
        os.close(lifeline)
        os.close(report)
    return enter(Jailed(process, our_lifeline, our_report, mode, output_cap))


def specify(
    folder: Path,
    mode: Mode,
    limits: Limits | None,
    readable: Sequence[Path] = (),
    writable: Sequence[Path] = (),
) -> dict[str, Any]:
    """What ``confine.apply`` is told, but for the descriptors; gives the folder away.

    Args:
        folder: resolved; as for :func:`spawn`, like the rest.
        mode: how strictly.
        limits: most that it may use.
        readable: more that it may read.
        writable: more that it may write.
    """
    return {
        "mode": mode,
        "folder": os.fspath(folder),
        "readable": [os.fspath(path) for path in readable],
        "writable": [os.fspath(path) for path in writable],
        "hidden": of_ours(),
        "uid": _give_away(folder) if os.geteuid() == 0 and mode != "off" else None,
        "limits": (limits or Limits()).by_resource(),
    }


def probe(mode: Mode = "auto") -> dict[str, Any]:
    """Which layers of isolation this machine grants; see :meth:`Jailed.report`.

    Raises:
        JudgeError: not even a process could be started and confined.
        PrerequisiteError: there is no room for a temporary folder.
    """
    start = time.perf_counter()
    with workroom("probe") as folder, spawn("confine.py", folder=folder, mode=mode) as jailed:
        report = jailed.report()
        jailed.wait(PATIENCE_S)
    return {**report, "total_ms": round((time.perf_counter() - start) * 1e3, 1)}


def environment(folder: Path, given: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a process of the jail, ``given`` included."""
    own = os.fspath(folder)
    base = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": own, "TMPDIR": own, "LC_ALL": "C.UTF-8"}
    # The user that it becomes has no entry in any list; frameworks ask for a name.
    return {**base, "LOGNAME": "kernelwright", **given}


def _give_away(folder: Path) -> int | None:
    """Hand the folder to a user that nobody else is; the user's number, or None if impossible.

    A number of its own keeps jails apart that run at the same time. Where only few numbers are
    mapped (in a container), ``nobody`` must do.
    """
    for uid in (0x40000000 + secrets.randbelow(0x20000000), _NOBODY):
        try:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, uid, uid, follow_symlinks=False)
            return uid
        except OSError:
            continue
    return None
