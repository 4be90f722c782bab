"""Workers as the verifier sees them: forked from a zygote, primed in batches, asked and killed.

What a worker says is a claim; an error that it reports becomes an outcome here. Times are seconds.
"""

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from builds import copy_cache
from channel import Channel, pair

HERE = Path(__file__).resolve().parent
HEAD_US = 1500.0  # a spinning kernel that holds a block until it is queued
START_S = 60.0


class Refused(Exception):
    """A candidate's failure: an outcome by name, and what was seen."""

    def __init__(self, outcome: str, **seen: Any) -> None:
        super().__init__(outcome)
        self.outcome, self.seen = outcome, seen


def named_error(text: str) -> str:
    """The outcome that a worker's error means."""
    low = text.lower()
    if "illegal" in low or "misaligned" in low:
        return "illegal_access"
    if "out of memory" in low or "out_of_memory" in low or low.endswith("returned 2"):
        return "out_of_memory"
    return "launch_error"


# ---------------------------------------------------------------- workers


class Side:
    """A worker as the verifier sees it: a process, a channel, deadlines."""

    def __init__(self, pid: int, channel: Channel) -> None:
        self.pid, self.channel = pid, channel
        self.parts: dict[str, float] = {}
        self.head_us = HEAD_US
        self.home, self.inner, self.namespace = Path(), 0, False
        self.watched = os.pidfd_open(pid)

    def ask(self, message: dict[str, Any], seconds: float, fds: list[int] | None = None) -> dict:
        reply = self.channel.ask(message, seconds, fds)
        if "error" in reply:
            text = f"{reply['error']}: {reply.get('text')}"
            failed = "load_failed" if message["verb"] == "load" else named_error(text)
            raise Refused(failed, text=text[:300])
        return reply

    def find_inner(self) -> None:
        """The confined worker: a child of the process that the zygote forked, and waits for it."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        self.inner = int(children[0]) if children else 0

    def kill(self) -> None:
        try:
            if self.inner:  # its namespace goes with it, and then its parent ends by itself
                os.kill(self.inner, signal.SIGKILL)
            else:
                os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.channel.close()

    def gone(self, seconds: float) -> bool:
        """Waits for the process to be gone; its device memory is given back by then."""
        gone = bool(select.select([self.watched], [], [], seconds)[0])
        if gone and self.watched >= 0:
            os.close(self.watched)
            self.watched = -1
        return gone


class Workers:
    """A zygote and a few primed workers; priming happens in batches, never during timing."""

    def __init__(self, folder: Path, cubin: Path, batch: int, layers: list[str]) -> None:
        self.cubin, self.batch, self.layers = cubin, batch, layers
        self.homes = folder / "homes"
        self.cache = folder / "primed"
        self.channel, theirs = pair()
        environment = {
            **os.environ,
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
            "PYTHONDONTWRITEBYTECODE": "",
            "CUDA_MODULE_LOADING": "LAZY",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        end = str(theirs.fileno())
        self.zygote = subprocess.Popen(
            [sys.executable, str(HERE / "zygote.py"), end],
            pass_fds=[theirs.fileno()], env=environment, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        theirs.close()
        self.hello, _ = self.channel.receive(START_S)
        self.ready: list[Side] = []
        self.prime_s: list[float] = []

    def home(self) -> Path:
        """A folder for one worker, which may be another user; with its copy of the primed cache."""
        self.homes.mkdir(exist_ok=True)
        home = Path(tempfile.mkdtemp(dir=self.homes))
        home.chmod(0o777)
        if self.cache.exists():
            copy_cache(self.cache, home / "primed")
        return home

    def fork(self, layers: list[str] | None = None) -> Side:
        """A worker that is being primed; its first message says how that went."""
        ours, theirs = pair()
        home, names = self.home(), self.layers if layers is None else layers
        cache = home / "primed" if (home / "primed").exists() else self.cache
        spec = {"layers": names, "folder": str(home), "readable": [str(self.cubin)]}
        self.channel.send({"layers": spec if names else {}}, [theirs.fileno()])
        theirs.close()
        reply, _ = self.channel.receive(START_S)
        side = Side(reply["pid"], ours)
        side.home, side.namespace = home, "pids" in names
        side.channel.send({"verb": "prime", "cubin": str(self.cubin), "cache": str(cache),
                           "number": 0})  # fmt: skip
        return side

    def fresh(self, layers: list[str] | None = None) -> Side:
        began = time.perf_counter()
        side = self.fork(layers)
        side.parts, _ = side.channel.receive(START_S)
        if "error" in side.parts:
            raise RuntimeError(side.parts)
        if side.namespace:
            side.find_inner()
        self.prime_s.append(time.perf_counter() - began)
        return side

    def fill(self) -> None:
        """Primes a batch at once: contexts are created in parallel."""
        began = time.perf_counter()
        forked = [self.fork() for _ in range(self.batch)]
        for side in forked:
            side.parts, _ = side.channel.receive(START_S)
            if "error" in side.parts:
                raise RuntimeError(side.parts)
            if side.namespace:
                side.find_inner()
            self.prime_s.append(time.perf_counter() - began)
        self.ready += forked

    def take(self) -> Side:
        if not self.ready:
            self.fill()
        return self.ready.pop(0)

    def close(self) -> None:
        for side in self.ready:
            side.kill()
        self.channel.close()
        self.zygote.wait(10)
