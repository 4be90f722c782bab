"""What every language offers; a new one is one module and one line in the table of plugins.

What its text looks like stands in the attribute ``notation`` of its class: readers of headers,
prototypes, exporters and file names follow it, so that nothing else has to be told.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from kernelwright.candidates.notation import Notation
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Build, Sandbox
from kernelwright.records.outcome import Outcome

WorkerKind = Literal["library", "python", "model"]
"""What is called: a library's function, one of Python that writes outputs, a module's class."""
"""Which process runs a built candidate: one that loads a shared library, or one in which torch is
imported and that executes a Python file."""


@dataclass(frozen=True)
class Availability:
    """Whether kernels of a language can be built here."""

    version: str = ""
    """The tool and its version; empty when there is none."""
    reason: str = ""
    hint: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    """For example ``openmp``: ``yes``, or why not."""

    @property
    def ok(self) -> bool:
        """Whether building is possible."""
        return bool(self.version)


@dataclass(frozen=True)
class BuildLimits:
    """What one build may use."""

    seconds: float = 30.0
    memory_bytes: int = 4 << 30
    output_bytes: int = 64 << 20
    """Largest file that the compiler may write."""


DEFAULT_LIMITS = BuildLimits()


@dataclass(frozen=True)
class BuildResult:
    """How a build ended; the library is there exactly when it passed."""

    outcome: Outcome
    """``passed``, ``parse_error``, ``build_error``, ``build_timeout``, ``signature_error``, or
    ``unsupported`` where something that it asks for is missing here."""
    build: Build
    reason: str = ""
    """One sentence; the compiler's own words are in ``build.log``."""
    hint: str = ""
    library: Path | None = None
    """A file of the cache: open or copy it, never write to it."""
    symbols: tuple[str, ...] = ()
    """Functions that the library exports."""
    sandbox: Sandbox = field(default_factory=Sandbox)
    """Layers that were active; empty when the library came from the cache."""
    worker: WorkerKind = "library"
    """What runs the library."""

    @property
    def passed(self) -> bool:
        """Whether there is a library."""
        return self.outcome is Outcome.PASSED


class Language(Protocol):
    """One language; instances are cheap and hold no process."""

    name: str
    """Its name in the table of plugins."""
    notation: Notation
    """How its files are written."""

    def __init__(self, compiler: str = "", cache: Path | None = None) -> None:
        """Take the settings.

        Args:
            compiler: the setting of that name, for languages that need the C++ compiler.
            cache: home of built kernels; None takes the setting.
        """

    def available(self) -> Availability:
        """Whether kernels can be built here, and with what; cached."""

    def build(
        self,
        candidate: Candidate,
        *,
        entry: str,
        prototype: str = "",
        limits: BuildLimits = DEFAULT_LIMITS,
        sandbox: Literal["auto", "require", "off"] = "auto",
    ) -> BuildResult:
        """Build a candidate, or take it from the cache.

        Args:
            candidate: what to build.
            entry: the function that the library must export, or the file define.
            prototype: declaration of ``entry`` that the source must agree with; empty: any.
            limits: most time, memory and output.
            sandbox: how strictly the compiler is confined.

        Raises:
            PrerequisiteError: there is no compiler, or ``require`` cannot be met here.
        """

    def notes(self) -> str:
        """What a writer of kernels should know about this language on this machine."""
