"""CUDA kernels: compiled by nvcc inside the sandbox to a plain C library, kept by content.

As for C++, source text is hostile to its compiler, and the library is never loaded here. Nothing
here needs a GPU: what a kernel takes of a device (registers, spilled bytes, shared memory) the
assembler says, and machine code is printed by the toolkit's own tool.
"""

import json
import shutil
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from kernelwright.candidates.notation import Notation
from kernelwright.candidates.text import too_long
from kernelwright.errors import JudgeError, PrerequisiteError, UsageError
from kernelwright.languages import allowed, compilation, cuda_commands, kept, nvcc, ptxas
from kernelwright.languages.base import Availability, BuildLimits, BuildResult
from kernelwright.languages.cache import cache_folder, key
from kernelwright.languages.compilation import LIBRARY, Job, Ran, Verdict
from kernelwright.languages.entry import with_entry
from kernelwright.languages.nvcc import Nvcc, Target
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Build
from kernelwright.records.outcome import Outcome
from kernelwright.sandbox import Limits, environment, spawn
from kernelwright.sandbox.scratch import workroom
from kernelwright.settings import Settings

TYPES = {
    "float64": "double", "float32": "float", "float16": "__half", "bfloat16": "__nv_bfloat16",
    "float8_e4m3fn": "__nv_fp8_e4m3", "float8_e5m2": "__nv_fp8_e5m2", "int64": "int64_t",
    "int32": "int32_t", "int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t", "bool": "bool",
}  # fmt: skip
"""Of elements, as the toolkit's headers call them."""
LIMITS = BuildLimits(seconds=60.0, memory_bytes=8 << 30)
"""Of one build: templates for tensor cores keep two compilers busy, one after the other."""
FORMAT = 1
"""Raised when the same source is built, or kept, differently than before."""
MOST_SASS_BYTES = 8 << 20
_MACHINE_FAULTS = ("host_config.h", "Unsupported gpu architecture")
"""In the log of a build that fails for every source alike; a source may print them, too."""
_SHARED_HINT = (
    "take less of it: smaller tiles or fewer stages; what is larger than 48 KiB is best declared "
    "extern __shared__, with cudaFuncAttributeMaxDynamicSharedMemorySize raised before the launch"
)
Confinement = Literal["auto", "require", "off"]


class Cuda:
    """CUDA through nvcc.

    Args:
        compiler: of host code, as for C++; empty takes the setting ``compiler``, then the first
            that is installed.
        cache: home of built kernels; None takes the setting ``cache``.
        arch: what to build for, as ``sm_90a``; empty takes the setting ``cuda_arch``, then the
            device that is here, then ``sm_90a``.
    """

    name = "cuda"
    notation = Notation(
        endings=(".cu",),
        comment="//",
        types=TYPES,
        type_macro="DTYPE_{}",
        last="cudaStream_t stream",
        device="gpu",
    )

    def __init__(self, compiler: str = "", cache: Path | None = None, arch: str = "") -> None:
        self._compiler = compiler
        self._cache = cache
        self._arch = arch

    @cached_property
    def toolchain(self) -> Nvcc:
        """The compiler.

        Raises:
            PrerequisiteError: there is none, or none for host code.
            UsageError: the one for host code is none that we know how to drive.
        """
        return nvcc.find(self._compiler or Settings.load().compiler, self._home)

    @cached_property
    def target(self) -> Target:
        """What is built for, and why that."""
        return nvcc.target(self._arch or Settings.load().cuda_arch)

    def available(self) -> Availability:
        """Whether there is a compiler that builds the smallest kernel, which, and for what."""
        try:
            toolchain = self.toolchain
            self._must_work()
        except (PrerequisiteError, UsageError) as problem:
            return Availability(reason=problem.message, hint=problem.hint)
        facts = {"compiler": toolchain.path, "architecture": self.target.name}
        return Availability(self._version(), facts=facts)

    def build(
        self,
        candidate: Candidate,
        *,
        entry: str,
        prototype: str = "",
        limits: BuildLimits = LIMITS,
        sandbox: Confinement = "auto",
    ) -> BuildResult:
        """Build a candidate, or take it from the cache; see :class:`Language`."""
        if candidate.language != self.name:
            raise UsageError(f"a candidate in {candidate.language} is not CUDA")
        toolchain, header = self.toolchain, candidate.header
        if long := too_long(candidate.source):
            return BuildResult(Outcome.PARSE_ERROR, Build(seconds=0.0), long)
        refusal = allowed.CUDA.refusal(header.flags, header.needs)
        if refusal:
            build = Build(seconds=0.0, compiler=toolchain.version, flags=header.flags)
            return BuildResult(Outcome.PARSE_ERROR, build, refusal.reason, refusal.hint)
        tunables, flags, needs = candidate.tunables, header.flags, header.needs
        job = cuda_commands.job(
            candidate.source, toolchain, self.target, tunables, flags, needs, prototype
        )

        def make() -> kept.Compiled:
            ran = compilation.run(job, toolchain, limits, sandbox)
            found = self._verdict(job, ran, entry, limits)
            facts = kept.Facts(ran.log, kernels=ptxas.kernels(ran.log))
            return kept.compiled(job, toolchain.version, ran, found, facts)

        told = (job.source, job.contract, job.commands, toolchain.identity)
        name = key(self.name, FORMAT, *told)
        return with_entry(kept.take(name, job, toolchain.version, self._home, make), entry)

    def sass(self, library: Path, limits: BuildLimits = LIMITS) -> str:
        """The machine code of a library's kernels, as text; its middle is left out if it is long.

        Raises:
            PrerequisiteError: there is no ``cuobjdump``: with the toolkit, or within triton.
            JudgeError: it cannot read the library.
        """
        tool = _cuobjdump(self.toolchain)
        path = f"{tool.parent}:{environment(tool.parent, {})['PATH']}"  # it starts its neighbour
        with workroom("sass") as folder:
            (folder / LIBRARY).write_bytes(library.read_bytes())
            jailed = spawn(
                "build.py",
                [json.dumps([[str(tool), "-sass", LIBRARY]])],
                folder=folder,
                limits=Limits(int(limits.seconds) + 1, limits.memory_bytes, limits.output_bytes),
                env={"PATH": path},
                readable=[tool.parent, *self.toolchain.readable],
                output_cap=MOST_SASS_BYTES,
            )
            with jailed:
                if jailed.wait(limits.seconds) != 0:
                    raise JudgeError("the machine code cannot be printed", jailed.tail())
                return jailed.stdout.decode(errors="replace")

    def notes(self) -> str:
        """What a writer of CUDA kernels should know here."""
        text = Path(__file__).with_name("cuda_notes.md").read_text(encoding="utf-8")
        return text.format(
            version=self._version(),
            flags=" ".join(cuda_commands.base_flags(self.target)),
            headers=", ".join(cuda_commands.HEADERS),
            allowed_flags=allowed.CUDA.in_words,
            allowed_needs=", ".join(allowed.CUDA.libraries),
        )

    def _version(self) -> str:
        return f"{self.toolchain.version}, for {self.target.name} ({self.target.why})"

    def _verdict(self, job: Job, ran: Ran, entry: str, limits: BuildLimits) -> Verdict:
        if ran.code and any(fault in ran.log for fault in _MACHINE_FAULTS):
            self._must_work()
        missing = compilation.missing_library(job, ran.code, ran.log)
        missing = missing or cuda_commands.missing_header(job, ran.code, ran.log)
        if missing:
            reason = f"library {missing!r} is not installed here"
            return Verdict(Outcome.UNSUPPORTED, reason, allowed.CUDA.how_to_install(missing))
        found = compilation.verdict(ran, limits, lambda log: cuda_commands.complaint(log, entry))
        return replace(found, hint=_SHARED_HINT) if "shared data" in found.reason else found

    def _must_work(self) -> None:
        """Refuse to go on where not even a kernel of ours can be built.

        Raises:
            PrerequisiteError: it cannot.
        """
        problem = nvcc.complaint(self.toolchain, self.target)
        if problem:
            raise PrerequisiteError(
                f"nvcc cannot build for {self.target.name} here: {problem}",
                hint="compiler names a C++ compiler that this nvcc takes, "
                "cuda_arch an architecture that it knows",
            )

    @cached_property
    def _home(self) -> Path:
        return self._cache or cache_folder()


def _cuobjdump(toolchain: Nvcc) -> Path:
    """The tool that prints machine code: the toolkit's, or the one that triton brings along."""
    on_path = shutil.which("cuobjdump")
    places = [Path(toolchain.path).parent, *([Path(on_path).parent] if on_path else [])]
    triton = find_spec("triton")
    homes = (triton.submodule_search_locations if triton else None) or ()
    places += [Path(home) / "backends" / "nvidia" / "bin" for home in homes]
    found = next((place / "cuobjdump" for place in places if (place / "cuobjdump").exists()), None)
    if found is None:
        raise PrerequisiteError(
            "no cuobjdump, which prints machine code",
            hint="install it with the CUDA toolkit (cuda-cuobjdump), or install triton",
        )
    return found
