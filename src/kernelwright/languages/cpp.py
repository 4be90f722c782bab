"""C++ kernels for the CPU: compiled by g++ or clang++ inside the sandbox, kept by content.

Source text is hostile to its compiler too (``.incbin`` of a foreign file, endless templates), so
it is compiled in a private folder, by a confined process with a deadline. The library is never
loaded here: loading runs its code.
"""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from kernelwright.candidates.notation import Notation
from kernelwright.candidates.text import too_long
from kernelwright.errors import JudgeError, PrerequisiteError, UsageError
from kernelwright.languages import allowed, compilation, compiler_log, cpp_commands, kept
from kernelwright.languages.base import DEFAULT_LIMITS, Availability, BuildLimits, BuildResult
from kernelwright.languages.cache import cache_folder, key
from kernelwright.languages.compilation import Job, Ran, Verdict
from kernelwright.languages.entry import with_entry
from kernelwright.languages.toolchain import Toolchain, architecture, base_flags, find
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Build
from kernelwright.records.outcome import Outcome
from kernelwright.settings import Settings

TYPES = {
    "float64": "double", "float32": "float", "float16": "_Float16", "bfloat16": "uint16_t",
    "float8_e4m3fn": "uint8_t", "float8_e5m2": "uint8_t", "int64": "int64_t",
    "int32": "int32_t", "int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t", "bool": "bool",
}  # fmt: skip
"""Of elements; bfloat16 and float8 as their bits, since g++ 12 has no such types."""
FORMAT = 2
"""Raised when the same source is built, or kept, differently than before."""
_MATH = {
    "gcc": (
        "Loops with `expf`, `logf`, `powf`, `sinf` or `cosf` vectorise only if the function is "
        "redeclared before use, by `#pragma omp declare simd notinbranch` and "
        '`extern "C" float expf(float) noexcept;`; or write a polynomial.'
    ),
    "clang": "Loops with `expf` and its kin do not vectorise: write a polynomial.",
}
Confinement = Literal["auto", "require", "off"]


class Cpp:
    """C++ through one compiler.

    Args:
        compiler: ``g++``, ``clang++`` (perhaps with a version) or a path; empty takes the setting
            ``compiler``, then the first that is installed.
        cache: home of built kernels; None takes the setting ``cache``.
    """

    name = "cpp"
    notation = Notation(
        endings=(".cpp", ".cc", ".cxx", ".c++"),
        comment="//",
        types=TYPES,
        remarks={
            "bfloat16": ", its bits: shifted left by 16 they are a float",
            "float8_e4m3fn": ", its bits: sign, 4 of exponent, 3 of mantissa",
            "float8_e5m2": ", its bits: sign, 5 of exponent, 2 of mantissa",
        },
    )

    def __init__(self, compiler: str = "", cache: Path | None = None) -> None:
        self._compiler = compiler
        self._cache = cache

    @cached_property
    def toolchain(self) -> Toolchain:
        """The compiler.

        Raises:
            PrerequisiteError: there is none.
            UsageError: it is none that we know how to drive.
        """
        return find(self._compiler or Settings.load().compiler, self._home)

    def available(self) -> Availability:
        """Whether there is a compiler, which one, and whether OpenMP works with it."""
        try:
            toolchain = self.toolchain
        except (PrerequisiteError, UsageError) as problem:
            return Availability(reason=problem.message, hint=problem.hint)
        facts = {"compiler": toolchain.path, "openmp": toolchain.openmp}
        return Availability(toolchain.version, facts=facts)

    def build(
        self,
        candidate: Candidate,
        *,
        entry: str,
        prototype: str = "",
        limits: BuildLimits = DEFAULT_LIMITS,
        sandbox: Confinement = "auto",
    ) -> BuildResult:
        """Build a candidate, or take it from the cache; see :class:`Language`."""
        if candidate.language != self.name:
            raise UsageError(f"a candidate in {candidate.language} is not C++")
        toolchain, header = self.toolchain, candidate.header
        if long := too_long(candidate.source):
            return BuildResult(Outcome.PARSE_ERROR, Build(seconds=0.0), long)
        refusal = allowed.CPP.refusal(header.flags, header.needs)
        if refusal:
            build = Build(seconds=0.0, compiler=toolchain.version, flags=header.flags)
            return BuildResult(Outcome.PARSE_ERROR, build, refusal.reason, refusal.hint)
        tunables, source = candidate.tunables, candidate.source
        job = cpp_commands.job(source, toolchain, tunables, header.flags, header.needs, prototype)
        return with_entry(self.compile(job, limits, sandbox), entry)

    def compile(
        self, job: Job, limits: BuildLimits = DEFAULT_LIMITS, sandbox: Confinement = "auto"
    ) -> BuildResult:
        """The library of a job, from the cache if it has been built before."""
        toolchain = self.toolchain
        told = (job.source, job.contract, job.commands, toolchain.identity, architecture())

        def make() -> kept.Compiled:
            ran = compilation.run(job, toolchain, limits, sandbox)
            return _compiled(job, toolchain, ran, limits)

        return kept.take(key(FORMAT, *told), job, toolchain.version, self._home, make)

    def notes(self) -> str:
        """What a writer of C++ kernels should know here."""
        toolchain = self.toolchain
        openmp = toolchain.openmp == "yes"
        lacking = f"OpenMP threads are not available ({toolchain.openmp}); `omp simd` is."
        return (
            Path(__file__)
            .with_name("cpp_notes.md")
            .read_text(encoding="utf-8")
            .format(
                version=toolchain.version,
                flags=" ".join(base_flags(toolchain.family, openmp)),
                threads="OpenMP is available." if openmp else lacking,
                math=_MATH[toolchain.family],
                allowed_flags=allowed.CPP.in_words,
                allowed_needs=", ".join(allowed.CPP.libraries),
            )
        )

    @cached_property
    def _home(self) -> Path:
        return self._cache or cache_folder()


def build_trusted(source: str, name: str, compiler: str = "", cache: Path | None = None) -> Path:
    """Build code of ours, or a task's own loop, with the flags of a candidate.

    Args:
        source: C++ text; a header in it is not read.
        name: what it is, for messages.
        compiler: as for :class:`Cpp`.
        cache: as for :class:`Cpp`.

    Returns:
        The library, a file of the cache.

    Raises:
        PrerequisiteError: there is no compiler.
        JudgeError: the text does not compile.
    """
    language = Cpp(compiler, cache)
    result = language.compile(cpp_commands.job(source, language.toolchain, {}))
    if result.library is None:
        raise JudgeError(f"{name} does not compile: {result.reason}", result.build.log[-1000:])
    return result.library


def _compiled(job: Job, toolchain: Toolchain, ran: Ran, limits: BuildLimits) -> kept.Compiled:
    log, remarks = compiler_log.split_remarks(ran.log)
    vectorised = compiler_log.vectorised(ran.report or remarks, job.source)
    ran = replace(ran, log=log)
    missing = compilation.missing_library(job, ran.code, log)
    if missing:
        reason = f"library {missing!r} is not installed here"
        found = Verdict(Outcome.UNSUPPORTED, reason, allowed.CPP.how_to_install(missing))
    else:
        found = compilation.verdict(ran, limits, cpp_commands.complaint)
    return kept.compiled(job, toolchain.version, ran, found, kept.Facts(log, vectorised))
