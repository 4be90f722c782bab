"""One compilation of C++: the commands, the confined process that runs them, what came of it."""

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kernelwright import sandbox
from kernelwright.errors import JudgeError
from kernelwright.languages import allowed, compiler_log, elf
from kernelwright.languages.base import BuildLimits, BuildResult
from kernelwright.languages.toolchain import Toolchain, base_flags
from kernelwright.records.candidate import Value
from kernelwright.records.evaluation import Build, Sandbox
from kernelwright.records.outcome import Outcome
from kernelwright.sandbox.scratch import require_room, workroom

SOURCE, OBJECT, LIBRARY = "kernel.cpp", "kernel.o", "kernel.so"
CONTRACT, REPORT = "contract.h", "report.txt"
_LOG_CAP = (64 << 10) - 256
_REPORT_CAP = 256 << 10
_PROCESSES = 64
_LINK_FAILED = 11
"""Exit code of ``jail/build.py``: 10 and the place of the command that failed."""
_CONFLICT = re.compile(
    r"conflicting (declaration of C function|types for)|ambiguating new decl"
    r"|different exception specifier|exception specification in declaration"
)


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

    @classmethod
    def of(
        cls,
        source: str,
        toolchain: Toolchain,
        tunables: Mapping[str, Value],
        flags: tuple[str, ...] = (),
        needs: tuple[str, ...] = (),
        prototype: str = "",
    ) -> "Job":
        """The job of one source with its values.

        Compiling and linking are two commands: with ``-ffast-math`` in the second, GCC links code
        that flushes denormals in the whole process.
        """
        openmp = toolchain.openmp == "yes"
        told = (*base_flags(toolchain.family, openmp), *flags)
        defines = [f"-D{name}={literal(value)}" for name, value in sorted(tunables.items())]
        quiet = ["-fPIC", "-fdiagnostics-color=never"]
        # The same code must give the same bytes.
        quiet += ["-fno-ident", "-Wno-builtin-macro-redefined"]
        quiet += [f'-D__{what}__=""' for what in ("DATE", "TIME", "TIMESTAMP")]
        if toolchain.family == "gcc":
            quiet += ["-fmax-errors=20", "-frandom-seed=0", f"-fopt-info-vec-all={REPORT}"]
        else:
            quiet += ["-ferror-limit=20", "-fno-caret-diagnostics"]
            quiet += [f"-R{kind}=loop-vectorize" for kind in ("pass", "pass-missed")]
        include = ["-include", CONTRACT] if prototype else []
        steps = ["-c", SOURCE, "-o", OBJECT]
        libraries = [option for need in needs for option in allowed.LIBRARIES[need]]
        link = ["-shared", *(["-fopenmp"] if openmp else []), OBJECT, "-o", LIBRARY, *libraries]
        strict = ["-Wl,--build-id=none", "-Wl,-z,defs", "-s"]
        return cls(
            source=source,
            contract=f"#include <cstdint>\n{prototype}\n" if prototype else "",
            commands=(
                (toolchain.path, *told, *defines, *quiet, *include, *steps),
                (toolchain.path, *link, *strict),
            ),
            flags=told,
        )


@dataclass(frozen=True)
class Compiled:
    """How a compilation ended; the library is empty unless it passed."""

    result: BuildResult
    library: bytes = b""


def literal(value: Value) -> str:
    """A tunable's value as a macro that survives any context."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return repr(value) if value >= 0 else f"({value!r})"
    plain = re.compile(r"[A-Za-z0-9_ ./+-]")
    letters = ((chr(byte), f"\\{byte:03o}") for byte in value.encode())
    return '"' + "".join(as_is if plain.match(as_is) else octal for as_is, octal in letters) + '"'


def run(job: Job, toolchain: Toolchain, limits: BuildLimits, mode: sandbox.Mode) -> Compiled:
    """Compile in a confined process.

    Raises:
        PrerequisiteError: ``require`` cannot be met here, no process can be started, or the disk
            is full.
        JudgeError: the confined process could not even begin.
    """
    start = time.monotonic()
    with workroom("build") as folder:
        (folder / SOURCE).write_bytes(job.source.encode(errors="replace"))
        if job.contract:
            (folder / CONTRACT).write_text(job.contract, encoding="utf-8")
        jailed = sandbox.spawn(
            "build.py",
            [json.dumps(job.commands)],
            folder=folder,
            mode=mode,
            limits=_limits(limits),
            env={"LC_ALL": "C"},
            readable=toolchain.readable,
            output_cap=_LOG_CAP,
        )
        with jailed:
            code = jailed.wait(limits.seconds)
            layers = _layers(jailed, code)
            jailed.kill()
            printed = jailed.stderr.decode(errors="replace")
        log, remarks = compiler_log.split_remarks(compiler_log.clean(printed, folder))
        recorded = _read(folder / REPORT, _REPORT_CAP).decode(errors="replace")
        report = compiler_log.clean(recorded, folder) or remarks
        library = _read(folder / LIBRARY, limits.output_bytes) if code == 0 else b""
    missing = missing_library(job, code, log)
    outcome, reason, symbols = _verdict(code, log, library, limits, missing)
    if outcome is Outcome.BUILD_ERROR:
        require_room()  # else the candidate would be blamed for it
    build = Build(
        seconds=time.monotonic() - start,
        binary=hashlib.sha256(library).hexdigest() if library else "",
        compiler=toolchain.version,
        flags=job.flags,
        log=log,
        vectorised=compiler_log.vectorised(report, job.source),
    )
    hint = allowed.how_to_install(missing) if missing else ""
    result = BuildResult(outcome, build, reason, hint, symbols=symbols, sandbox=layers)
    return Compiled(result, library if outcome is Outcome.PASSED else b"")


def missing_library(job: Job, code: int | None, log: str) -> str:
    """A library that the job's header needs and the linker does not find; empty: none.

    Args:
        job: what was built.
        code: how its commands ended.
        log: what they printed. A source can print what it likes, so this counts only where the
            link failed, and only for what is linked because of the header.
    """
    needed = {option[2:] for option in job.commands[-1] if option.startswith("-l")}
    said = compiler_log.missing_libraries(log) if code == _LINK_FAILED else []
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


def _verdict(
    code: int | None, log: str, library: bytes, limits: BuildLimits, missing: str
) -> tuple[Outcome, str, tuple[str, ...]]:
    if code is None:
        reason = f"the compiler was still busy after {limits.seconds:g} s"
        return Outcome.BUILD_TIMEOUT, reason, ()
    if code != 0:
        if missing:
            return Outcome.UNSUPPORTED, f"library {missing!r} is not installed here", ()
        reason = compiler_log.reason(log)
        # What cannot be parsed disagrees with the contract too, later.
        if _CONFLICT.search(reason) and CONTRACT in log:
            said = f"the entry's arguments differ from the contract: {reason}"
            if "exception specif" in reason:
                said = f"the entry must not be marked noexcept: {reason}"
            return Outcome.SIGNATURE_ERROR, said, ()
        return Outcome.BUILD_ERROR, reason, ()
    try:
        return Outcome.PASSED, "", elf.exported_functions(library)
    except ValueError as problem:
        return Outcome.BUILD_ERROR, f"no usable library came out: {problem}", ()


def _read(path: Path, cap: int) -> bytes:
    """The first ``cap`` bytes of a plain file that a hostile process may have made."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(cap) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
