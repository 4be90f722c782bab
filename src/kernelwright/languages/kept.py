"""A library from the cache, or one built now and kept: alike for every language that is compiled.

Only what passed is kept. What a build said of the code is kept beside the library, so that a
build that was spared tells as much as one that was made.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from kernelwright.languages.base import BuildResult
from kernelwright.languages.cache import Cache, Entry
from kernelwright.languages.compilation import Job, Ran, Verdict
from kernelwright.records.evaluation import Build, KernelFacts
from kernelwright.records.outcome import Outcome


@dataclass(frozen=True)
class Facts:
    """What a build said of the code."""

    log: str = ""
    vectorised: int = 0
    kernels: tuple[KernelFacts, ...] = ()

    def sizes(self) -> dict[str, Any]:
        """As a :class:`Build` has them: of several kernels the largest of each."""
        spilled = [one.spill_store_bytes + one.spill_load_bytes for one in self.kernels]
        return {
            "log": self.log,
            "vectorised": self.vectorised,
            "kernels": self.kernels,
            "registers": max((one.registers for one in self.kernels), default=0),
            "spill_bytes": max(spilled, default=0),
            "shared_bytes": max((one.shared_bytes for one in self.kernels), default=0),
        }


@dataclass(frozen=True)
class Compiled:
    """How a compilation ended, the library's bytes beside it; empty unless it passed."""

    result: BuildResult
    facts: Facts
    library: bytes = b""


def compiled(job: Job, version: str, ran: Ran, found: Verdict, facts: Facts) -> Compiled:
    """What a compilation came to.

    Args:
        job: what was built.
        version: of the compiler.
        ran: what came of the job's commands.
        found: the verdict on it.
        facts: what was said of the code.
    """
    build = Build(
        seconds=ran.seconds,
        binary=sha256(ran.library).hexdigest() if ran.library else "",
        compiler=version,
        flags=job.flags,
        **facts.sizes(),
    )
    result = BuildResult(
        found.outcome, build, found.reason, found.hint, symbols=found.symbols, sandbox=ran.layers
    )
    return Compiled(result, facts, ran.library if found.outcome is Outcome.PASSED else b"")


def take(
    name: str, job: Job, version: str, home: Path, make: Callable[[], Compiled]
) -> BuildResult:
    """The library of a job, from the cache if it has been built before.

    Args:
        name: hash of everything that the build depends on.
        job: what to build.
        version: of the compiler.
        home: folder of the cache.
        make: builds it.
    """
    cache = Cache(home)
    known = cache.get(name)
    if known is not None:
        return _remembered(known, job, version)
    made = make()
    if not made.result.passed:
        return made.result
    facts: dict[str, Any] = {
        "log": made.facts.log,
        "vectorised": made.facts.vectorised,
        "symbols": made.result.symbols,
    }
    if made.facts.kernels:
        facts["kernels"] = [one.model_dump() for one in made.facts.kernels]
    return replace(made.result, library=cache.put(name, made.library, facts).library)


def _remembered(known: Entry, job: Job, version: str) -> BuildResult:
    told = known.facts
    kernels = tuple(map(KernelFacts.model_validate, told.get("kernels", ())))
    build = Build(
        seconds=0.0,
        cached=True,
        binary=told["sha256"],
        compiler=version,
        flags=job.flags,
        **Facts(told["log"], told["vectorised"], kernels).sizes(),
    )
    symbols = tuple(told["symbols"])
    return BuildResult(Outcome.PASSED, build, library=known.library, symbols=symbols)
