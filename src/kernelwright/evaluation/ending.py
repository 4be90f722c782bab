"""How a process that runs kernels ended, when it ended before it answered."""

import signal
import time
from typing import Any, Protocol

from kernelwright.checks.finding import Finding
from kernelwright.evaluation.guarded import signal_name
from kernelwright.evaluation.memory import oom_kills
from kernelwright.records.outcome import Outcome


class Process(Protocol):
    """The part of a started process that a handle needs."""

    @property
    def pid(self) -> int:
        """Identity of the process."""

    def poll(self) -> int | None:
        """Exit code (negative: a signal), or None while it runs."""

    def kill(self) -> None:
        """End it and everything it started."""

    def tail(self, size: int = 2000) -> str:
        """Last part of what it printed."""


def death(
    process: Process, label: str, problem: str, oom_kills_before: int, *, alone: bool = False
) -> Finding:
    """What it means that a process no longer answers; it is ended.

    Args:
        process: which.
        label: what it is called in the reason.
        problem: what was seen of its channel.
        oom_kills_before: how many processes the system had killed for memory when it started.
        alone: it is ended where it starts another process.
    """
    code = _wait(process, 2.0)
    if code is None:
        process.kill()
        reason = f"{label} broke off the conversation ({problem})"
        return Finding(Outcome.TAMPERING, reason, {"output": process.tail()})
    evidence: dict[str, Any] = {"exit_code": code, "output": process.tail()}
    process.kill()
    if code >= 0:
        reason = f"{label} left with exit code {code} before it answered"
        return Finding(Outcome.CRASHED, reason, evidence)
    if -code == signal.SIGXCPU:
        return Finding(Outcome.TIMEOUT, f"{label} used up its processor time", evidence)
    if -code == signal.SIGSYS and alone:
        reason = f"{label} was ended as it tried to start a process: a kernel may start threads"
        return Finding(Outcome.DEFERRED_WORK, reason, evidence)
    kills = oom_kills() - oom_kills_before
    if -code == signal.SIGKILL and kills > 0:
        reason = f"{label} was killed by the system because the memory was used up"
        return Finding(Outcome.OUT_OF_MEMORY, reason, {**evidence, "oom_kills": kills})
    if -code == signal.SIGABRT and "std::bad_alloc" in evidence["output"]:
        reason = f"{label} could not have the memory that it asked for"
        return Finding(Outcome.OUT_OF_MEMORY, reason, evidence)
    reason = f"{label} crashed with {signal_name(-code)}"
    return Finding(Outcome.CRASHED, reason, evidence)


def silence(process: Process, label: str, seconds: float, *, whole: bool = False) -> Finding:
    """What it means that a process did not answer in time; it is ended.

    Args:
        process: which.
        label: what it is called in the reason.
        seconds: how long it was given.
        whole: what was over is the time of all its calls, not that of one.
    """
    process.kill()
    reason = f"{label} did not answer within {seconds:.3g} s"
    if whole:
        reason = f"{label} took too long, all its calls together"
    return Finding(Outcome.TIMEOUT, reason, {"seconds": seconds, "output": process.tail()})


def _wait(process: Process, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    while (code := process.poll()) is None and time.monotonic() < deadline:
        time.sleep(0.005)
    return code
