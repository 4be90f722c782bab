"""Python candidates that call or compile with torch, on the CPU.

Building is reading: Python's parser looks at the text in the jail, the entry is looked up in the
syntax tree, and the file is kept as it is. Nothing of it is executed here, and torch is not
imported; both happen in the candidate's own process.
"""

import hashlib
import json
import platform
import tempfile
import time
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from kernelwright.candidates.notation import Notation
from kernelwright.errors import JudgeError, PrerequisiteError, UsageError
from kernelwright.extras import how_to_add
from kernelwright.languages.base import (
    DEFAULT_LIMITS,
    Availability,
    BuildLimits,
    BuildResult,
    WorkerKind,
)
from kernelwright.languages.cache import Cache, cache_folder, key
from kernelwright.languages.python_form import MODEL, Misfit, Wanted, misfit
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Build, Sandbox
from kernelwright.records.outcome import Outcome
from kernelwright.sandbox import Limits, spawn

FORMAT = 2
"""Raised when the same source is read differently than before."""
FILE = "kernel.py"
_OUTPUT_CAP = 8 << 20
"""More than the parser prints of any file: it cuts names and counts."""
Confinement = Literal["auto", "require", "off"]


class Torch:
    """Python with torch.

    Args:
        compiler: not used; a candidate that compiles chooses its own.
        cache: home of the files that were read; None takes the setting ``cache``.
    """

    name = "torch"
    notation = Notation(endings=(".py",), comment="#", models=True)

    def __init__(self, compiler: str = "", cache: Path | None = None) -> None:
        self._cache = cache

    def available(self) -> Availability:
        """Whether torch is installed beside us, and which."""
        try:
            version = f"torch {metadata.version('torch')}, Python {platform.python_version()}"
        except metadata.PackageNotFoundError:
            return Availability(reason="torch is not installed", hint=how_to_add("torch"))
        return Availability(version)

    def build(
        self,
        candidate: Candidate,
        *,
        entry: str,
        prototype: str = "",
        limits: BuildLimits = DEFAULT_LIMITS,
        sandbox: Confinement = "auto",
    ) -> BuildResult:
        """Read a candidate, or take it from the cache; see :class:`Language`."""
        if candidate.language != self.name:
            raise UsageError(f"a candidate in {candidate.language} is not Python")
        here = self.available()
        if not here.ok:
            raise PrerequisiteError(here.reason, here.hint)
        refusal = _refusal(candidate)
        if refusal:
            build = Build(seconds=0.0, compiler=here.version)
            return BuildResult(Outcome.PARSE_ERROR, build, refusal.reason, refusal.hint)
        kept = Cache(self._home, file=FILE)
        values = json.dumps(candidate.tunables, sort_keys=True)
        name = key(FORMAT, candidate.source, values, entry, prototype, here.version)
        known = kept.get(name)
        if known is not None:
            facts = known.facts
            build = Build(seconds=0, cached=True, binary=facts["binary"], compiler=here.version)
            kind: WorkerKind = facts["kind"]
            return BuildResult(
                Outcome.PASSED, build, library=known.library, symbols=(entry,), worker=kind
            )
        started = time.monotonic()
        source = candidate.source.encode(errors="replace")
        facts, layers = _described(source, entry, limits, sandbox)
        outcome, found = _verdict(facts, entry, prototype, set(candidate.tunables))
        passed = outcome is Outcome.PASSED
        # What differs in comments and formatting only is one measurement.
        binary = hashlib.sha256(f"{facts.get('digest')} {values}".encode()).hexdigest()
        build = Build(
            seconds=time.monotonic() - started,
            binary=binary if passed else "",
            compiler=here.version,
        )
        kind = "model" if facts.get("entry") is None else "python"
        told = {"binary": binary, "kind": kind}
        library = kept.put(name, source, told).library if passed else None
        return BuildResult(
            outcome,
            build,
            found.reason,
            found.hint,
            library,
            symbols=(entry,) if passed else (),
            sandbox=layers,
            worker=kind,
        )

    def notes(self) -> str:
        """What a writer of Python candidates should know here."""
        text = Path(__file__).with_name("torch_notes.md").read_text(encoding="utf-8")
        return text.format(version=self.available().version or "torch")

    @cached_property
    def _home(self) -> Path:
        return self._cache or cache_folder()


def _refusal(candidate: Candidate) -> Misfit | None:
    for what, words in (("flags", candidate.header.flags), ("needs", candidate.header.needs)):
        if words:
            return Misfit(f"{what} mean nothing to a Python candidate", f"leave out {what}")
    return None


def _described(
    source: bytes, entry: str, limits: BuildLimits, mode: Confinement
) -> tuple[dict[str, Any], Sandbox]:
    """What the parser, confined, says of a file; ``error`` if it gave up."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-build-") as name:
        folder = Path(name)
        (folder / FILE).write_bytes(source)
        job = json.dumps({"file": FILE, "entry": entry, "model": MODEL})
        allowed = Limits(
            cpu_s=int(limits.seconds) + 1,
            memory_bytes=limits.memory_bytes,
            file_bytes=limits.output_bytes,
        )
        with spawn(
            "parse.py", [job], folder=folder, mode=mode, limits=allowed, output_cap=_OUTPUT_CAP
        ) as jailed:
            code = jailed.wait(limits.seconds)
            if code is None:
                return {"late": limits.seconds}, Sandbox()
            layers = jailed.confinement(5.0)
            printed, said = jailed.stdout, jailed.tail()
    if code < 0:  # deep nesting can end the parser itself
        return {"error": "Python's parser gave up: nested too deeply", "line": 1}, layers
    try:
        facts: dict[str, Any] = json.loads(printed)
    except ValueError as problem:
        raise JudgeError("a file could not be read in the sandbox", said) from problem
    return facts, layers


def _verdict(
    facts: dict[str, Any], entry: str, prototype: str, tunables: set[str]
) -> tuple[Outcome, Misfit]:
    if "late" in facts:
        reason = f"the parser was still busy after {facts['late']:g} s"
        return Outcome.BUILD_TIMEOUT, Misfit(reason)
    if "error" in facts:
        return Outcome.PARSE_ERROR, Misfit(f"line {facts['line']}: {facts['error']}")
    found = misfit(facts, entry, Wanted.of(prototype), tunables)
    return (Outcome.SIGNATURE_ERROR, found) if found else (Outcome.PASSED, Misfit(""))
