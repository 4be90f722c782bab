"""One compilation: a folder with a source, a confined process that runs commands, what came of it.

Which commands, and what a compiler's words mean, is the business of the language.
"""

import json
import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kernelwright import sandbox
from kernelwright.errors import JudgeError
from kernelwright.languages import compiler_log, elf
from kernelwright.languages.base import BuildLimits
from kernelwright.records.evaluation import Sandbox
from kernelwright.records.outcome import Outcome
from kernelwright.sandbox.scratch import require_room, workroom

OBJECT, LIBRARY = "kernel.o", "kernel.so"
CONTRACT, REPORT = "contract.h", "report.txt"
_LOG_CAP = (64 << 10) - 256
_REPORT_CAP = 256 << 10
_PROCESSES = 64
_FAILED = 10
"""Of the exit codes of ``jail/build.py``: this and the place of the command that failed."""


class Compiler(Protocol):
    """What is needed of a compiler to run it; how it is driven stands in a job's commands."""

    @property
    def version(self) -> str:
        """What it says of itself."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """Folders outside the system's that it needs to run."""


@dataclass(frozen=True)
class Job:
    """What decides the bytes of a library."""

    source: str
    contract: str
    """A header that is read before the source; empty: none."""
    commands: tuple[tuple[str, ...], ...]
    """Compile, then link; run in a folder that holds the source."""
    flags: tuple[str, ...]
    """Those worth telling about."""
    needs: tuple[str, ...] = ()
    """Options of the linker for libraries that the source's header asks for."""
    file: str = "kernel.cpp"
    """What the source is called."""

    def failed_at_link(self, code: int | None) -> bool:
        """Whether an exit code means that everything was compiled and could not be linked."""
        return code == _FAILED + len(self.commands) - 1

    def failed_at_compile(self, code: int | None) -> bool:
        """Whether an exit code means that the first command failed."""
        return code == _FAILED


@dataclass(frozen=True)
class Ran:
    """What came of a job's commands."""

    code: int | None
    """0 when all succeeded; None: the deadline came first."""
    log: str
    """What they printed, fit to keep."""
    report: str
    """What one of them wrote to ``report.txt``, fit to keep."""
    library: bytes
    """Empty unless all succeeded."""
    layers: Sandbox
    seconds: float


@dataclass(frozen=True)
class Verdict:
    """How a build ended, in words."""

    outcome: Outcome
    reason: str = ""
    hint: str = ""
    symbols: tuple[str, ...] = ()


def run(job: Job, compiler: Compiler, limits: BuildLimits, mode: sandbox.Mode) -> Ran:
    """Run a job's commands in a confined process.

    Raises:
        PrerequisiteError: ``require`` cannot be met here, no process can be started, or the disk
            is full.
        JudgeError: the confined process could not even begin.
    """
    start = time.monotonic()
    with workroom("build") as folder:
        _write(folder / job.file, job.source)
        if job.contract:
            _write(folder / CONTRACT, job.contract)
        jailed = sandbox.spawn(
            "build.py",
            [json.dumps(job.commands)],
            folder=folder,
            mode=mode,
            limits=_limits(limits),
            env={"LC_ALL": "C"},
            readable=compiler.readable,
            output_cap=_LOG_CAP,
        )
        with jailed:
            code = jailed.wait(limits.seconds)
            layers = _layers(jailed, code)
            jailed.kill()
            printed = jailed.stderr.decode(errors="replace")
        recorded = _read(folder / REPORT, _REPORT_CAP).decode(errors="replace")
        library = _read(folder / LIBRARY, limits.output_bytes) if code == 0 else b""
        return Ran(
            code,
            compiler_log.clean(printed, folder),
            compiler_log.clean(recorded, folder),
            library,
            layers,
            time.monotonic() - start,
        )


def verdict(ran: Ran, limits: BuildLimits, listen: Callable[[str], tuple[str, bool]]) -> Verdict:
    """How a build ended, but for what is missing on this machine.

    Args:
        ran: what came of the commands.
        limits: those that held.
        listen: of a log, what went wrong in one sentence, and whether that is that the entry
            disagrees with the contract.

    Raises:
        PrerequisiteError: the disk is full; else the candidate would be blamed for it.
    """
    if ran.code is None:
        reason = f"the compiler was still busy after {limits.seconds:g} s"
        return Verdict(Outcome.BUILD_TIMEOUT, reason)
    if ran.code != 0:
        reason, conflict = listen(ran.log)
        if conflict:
            said = f"the entry's arguments differ from the contract: {reason}"
            if "exception specif" in reason:
                said = f"the entry must not be marked noexcept: {reason}"
            return Verdict(Outcome.SIGNATURE_ERROR, said)
        require_room()
        return Verdict(Outcome.BUILD_ERROR, reason)
    try:
        return Verdict(Outcome.PASSED, symbols=elf.exported_functions(ran.library))
    except ValueError as problem:
        require_room()
        return Verdict(Outcome.BUILD_ERROR, f"no usable library came out: {problem}")


def missing_library(job: Job, code: int | None, log: str) -> str:
    """A library that the job's header needs and the linker does not find; empty: none.

    Args:
        job: what was built.
        code: how its commands ended.
        log: what they printed. A source can print what it likes, so this counts only where the
            link failed, and only for what is linked because of the header.
    """
    needed = {option[2:] for option in job.needs if option.startswith("-l")}
    said = compiler_log.missing_libraries(log) if job.failed_at_link(code) else []
    return next((name for name in said if name in needed), "")


def _limits(limits: BuildLimits) -> sandbox.Limits:
    return sandbox.Limits(
        cpu_s=int(limits.seconds) + 1,
        memory_bytes=limits.memory_bytes,
        file_bytes=limits.output_bytes,
        processes=_PROCESSES,
    )


def _layers(jailed: sandbox.Jailed, code: int | None) -> Sandbox:
    try:
        return jailed.confinement(5.0)
    except JudgeError:
        if code is None:  # the deadline came first
            return Sandbox()
        raise


def _write(path: Path, text: str) -> None:
    """A file whose time of writing cannot get into a binary."""
    path.write_bytes(text.encode(errors="replace"))
    os.utime(path, (0, 0))


def _read(path: Path, cap: int) -> bytes:
    """The first ``cap`` bytes of a plain file that a hostile process may have made."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(cap) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
