"""Kills a part of the machinery at a random moment, and looks at what is left of it.

The part is a process of a command line that works on a small task: the worker that runs a kernel,
the verifier, or the command itself. A chain of kills hits one run, which is resumed after each.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelwright.sandbox.scratch import STALE_SECONDS
from kernelwright.store import leases
from kernelwright.store.store import Store
from tests.device.leftovers import Leftovers, descendants

ROLES = {"worker": re.compile(r"jail/run\.py"), "verifier": re.compile(r"evaluation\.verifier")}
"""How a process is known by its command; the parent is the command that was started."""
SHARED = Path("/dev/shm")
OURS = "kernelwright"
UNFINISHED = ("running", "interrupted")
LONGEST_S = 300.0
PATIENCE_S = 15.0


@dataclass
class Killed:
    """What one kill did."""

    command: str
    role: str
    after_s: float
    hit: bool = False
    """Whether there was a process of the role to kill."""
    code: int | None = None
    """Exit code of the command, negative for a signal."""
    problems: list[str] = field(default_factory=list)


class Killing:
    """A folder with a task, in which commands are started and parts of them killed.

    Args:
        home: an empty folder.
        seed: of the moments and of whom they hit.
    """

    def __init__(self, home: Path, seed: int, files: dict[str, str]) -> None:
        self.home, self.chance = home, random.Random(seed)
        for name, text in files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        self.scratch = home / "tmp"
        self.scratch.mkdir()
        self.scratch.chmod(0o777)
        self.place = home / "runs.db"

    def once(self, words: list[str], role: str, longest_s: float, *, begun: bool = False) -> Killed:
        """Start a command, kill the role at a moment of its own, and look at what is left.

        Args:
            words: of the command line.
            role: ``worker``, ``verifier`` or ``parent``.
            longest_s: the moment is drawn up to this.
            begun: count it from when a run is being worked on, not from the start.
        """
        moment = self.chance.uniform(0.2, longest_s)
        found = Killed(words[0] if words[0] != "runs" else "resume", role, round(moment, 3))
        shared = _shared()
        with Leftovers(self.scratch) as left:
            process = self.start(words)
            while begun and process.poll() is None and self.status() != "running":
                time.sleep(0.02)
            time.sleep(moment)
            victim = self._victim(process, role)
            if victim is not None and process.poll() is None:
                found.hit = _kill(victim)
            try:
                _, said = process.communicate(timeout=LONGEST_S)
            except subprocess.TimeoutExpired:
                process.kill()
                _, said = process.communicate()
                found.problems.append(f"the command hangs: {said[-500:]}")
            found.code = process.returncode
            remains = left.found(PATIENCE_S)
        if "Traceback" in said:
            found.problems.append(said[-800:])
        if role == "parent":
            # Nobody is left to remove them: the next command does, once they are old.
            folders = {path.name for path in self.scratch.iterdir()}
            remains = [one for one in remains if one not in folders]
            self._age()
        found.problems += [f"left behind: {one}" for one in remains]
        found.problems += [f"shared memory: {one}" for one in sorted(_shared() - shared)]
        found.problems += self.held()
        return found

    def start(self, words: list[str]) -> subprocess.Popen[str]:
        """One command, in this folder, with a store and a cache of its own."""
        passed = ("PATH", "LD_LIBRARY_PATH")
        return subprocess.Popen(
            [sys.executable, "-m", "kernelwright", *words],
            cwd=self.home,
            env={name: os.environ[name] for name in passed if name in os.environ}
            | {"HOME": str(self.home), "TMPDIR": str(self.scratch),
               "KERNELWRIGHT_STORE": str(self.place),
               "KERNELWRIGHT_CACHE": str(self.home / "cache")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )  # fmt: skip

    def held(self) -> list[str]:
        """Whether the store opens, and whether a run in it is held by a process that is gone."""
        if not self.place.exists():
            return []
        store = Store.open(str(self.place))
        try:
            owners = {one.id: store.owner(one.id) for one in store.runs()}
        finally:
            store.close()
        return [f"run {name} is held" for name, one in owners.items() if leases.alive(*one)]

    def status(self) -> str:
        """Of the newest run; empty where there is none."""
        if not self.place.exists():
            return ""
        store = Store.open(str(self.place))
        try:
            runs = store.runs(present=True)
            return runs[0].status if runs else ""
        finally:
            store.close()

    def finished(self) -> list[str]:
        """Let the newest run go on to its end; what is wrong with that."""
        status, problems = self.status(), []
        if not status:
            return []
        if status in UNFINISHED:
            with Leftovers(self.scratch) as left:
                process = self.start(["runs", "resume", "latest"])
                _, said = process.communicate(timeout=2 * LONGEST_S)
                problems += [f"left behind by resume: {one}" for one in left.found(PATIENCE_S)]
            if process.returncode not in (0, 3, 4):
                problems.append(f"resume ended with {process.returncode}: {said[-500:]}")
        if claims := self._open():
            problems.append(f"claims {claims} were never answered")
        replayed = self.start(["runs", "replay", "latest"])
        _, said = replayed.communicate(timeout=LONGEST_S)
        if replayed.returncode:
            problems.append(f"replay ended with {replayed.returncode}: {said[-500:]}")
        return problems

    def _open(self) -> list[int]:
        """Numbers of claims in the newest run that have no answer."""
        store = Store.open(str(self.place))
        try:
            run = store.run("latest").id
            answered = {one.number for one in store.evaluations(run)}
            return [one.number for one in store.claims(run) if one.number not in answered]
        finally:
            store.close()

    def _victim(self, process: subprocess.Popen[str], role: str) -> int | None:
        """A process of the role; for one that is not there yet it is waited a little."""
        deadline = time.monotonic() + 5.0
        while role != "parent" and process.poll() is None and time.monotonic() < deadline:
            below = [one for one in descendants(process.pid) if ROLES[role].search(_command(one))]
            if below:
                return self.chance.choice(sorted(below))
            time.sleep(0.01)
        return process.pid if role == "parent" else None

    def _age(self) -> None:
        """Make what is left look old, so that whoever comes next must remove it."""
        then = time.time() - 2 * STALE_SECONDS
        for path in self.scratch.iterdir():
            os.utime(path, (then, then))


def chain(killing: Killing, words: list[str], number: int, longest_s: float) -> list[Killed]:
    """Kills of one run until so many were made or it ended; then it is finished."""
    found: list[Killed] = []
    while len(found) < number:
        status = killing.status()
        if status not in ("", *UNFINISHED):
            break
        role = killing.chance.choice(("worker", "verifier", "parent"))
        resumed = ["runs", "resume", "latest"]
        # Half of them before there is a run, or while it is read again; half of them within.
        begun = killing.chance.random() < 0.5
        found.append(killing.once(resumed if status else words, role, longest_s, begun=begun))
    if found:
        found[-1].problems += killing.finished()
    return found


def summary(found: list[Killed]) -> dict[str, Any]:
    """How many kills hit whom, and how many left something behind."""
    return {
        role: {
            "kills": sum(one.role == role and one.hit for one in found),
            "problems": sum(one.role == role and bool(one.problems) for one in found),
        }
        for role in (*ROLES, "parent")
    }


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    except OSError:
        return ""


def _shared() -> set[str]:
    return {path.name for path in SHARED.glob(f"*{OURS}*")}
