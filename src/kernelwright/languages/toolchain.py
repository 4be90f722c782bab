"""C++ compilers of this machine: where, which version, whether OpenMP really links.

What a compiler can do is found out by compiling, once, and remembered beside the built kernels.
"""

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from kernelwright.errors import PrerequisiteError, UsageError
from kernelwright.sandbox.scratch import require_room, workroom

NAMES = ("g++", "clang++")
_PROBE = """
extern "C" int probe(float* x) {
  #pragma omp parallel for
  for (int i = 0; i < 64; ++i) x[i] = 0;
  return 0;
}
"""
_SECONDS = 60.0


@dataclass(frozen=True)
class Toolchain:
    """One C++ compiler."""

    name: str
    path: str
    family: Literal["gcc", "clang"]
    version: str
    """First line of what it says of itself."""
    openmp: str
    """``yes``, or why ``-fopenmp`` does not work."""
    identity: str
    """Changes when the compiler does."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """Folders outside the system's that it needs to run."""
        homes = {Path(path).parent.parent for path in (self.path, os.path.realpath(self.path))}
        return tuple(sorted(home for home in homes if home.parts[:2] not in (("/",), ("/", "usr"))))


def find(name: str = "", memory: Path | None = None) -> Toolchain:
    """A compiler by name or path; empty takes the first of ``NAMES`` that is installed.

    Args:
        name: for example ``g++``, ``clang++-17`` or an absolute path.
        memory: folder in which what was found out is kept between processes.

    Raises:
        UsageError: the name is not that of a C++ compiler we know how to drive.
        PrerequisiteError: it is not installed, or cannot build the smallest library.
    """
    if name and not re.fullmatch(r"(.*[-/])?(g\+\+|clang\+\+)(-[\d.]+)?", name):
        raise UsageError(f"unknown compiler {name!r}", "g++ or clang++, perhaps with a version")
    wanted = (name,) if name else NAMES
    for candidate in wanted:
        path = shutil.which(candidate)
        if path:
            return _examined(candidate, os.path.realpath(path), path, memory)
    raise PrerequisiteError(
        f"no C++ compiler: {' or '.join(wanted)} is not on the PATH",
        hint="install g++ (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++)",
    )


@cache
def architecture() -> str:
    """What ``-march=native`` depends on: machine, model and features of the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    kept = []
    for key in ("model name", "flags", "Features", "CPU part"):
        found = re.search(rf"^{key}\s*:\s*(.*)$", text, re.MULTILINE)
        kept.append(" ".join(sorted(found[1].split())) if found else "")
    digest = hashlib.sha256("\n".join(kept).encode()).hexdigest()[:12]
    return f"{platform.machine()}-{digest}"


def base_flags(family: str, openmp: bool) -> list[str]:
    """Flags with which every kernel is compiled."""
    flags = ["-std=c++17", "-O3", "-march=native"]
    flags += ["-fopenmp"] if openmp else ["-fopenmp-simd"]
    flags += ["-fno-math-errno", "-fno-trapping-math"]
    # GCC only: partial redundancy elimination fills latch blocks, which then do not vectorise.
    return flags + (["-fno-tree-pre"] if family == "gcc" else [])


def run(command: list[str], folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """What a tool does with text of ours, which it may be trusted with.

    Raises:
        PrerequisiteError: it cannot be started, or does not end.
    """
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "LC_ALL": "C", **({"TMPDIR": os.fspath(folder)} if folder else {})},
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise PrerequisiteError(f"{command[0]} cannot be run: {problem}") from problem


@cache
def _examined(name: str, path: str, shown: str, memory: Path | None) -> Toolchain:
    family: Literal["gcc", "clang"] = "clang" if "clang" in Path(path).name + name else "gcc"
    version = (run([shown, "--version"]).stdout.splitlines() or [""])[0].strip()
    status = Path(path).stat()
    known = f"{path} {version} {status.st_size} {status.st_mtime_ns} {architecture()}"
    identity = hashlib.sha256(known.encode()).hexdigest()[:16]
    note = memory / "compilers" / f"{identity}.json" if memory else None
    remembered = _remembered(note)
    if remembered:
        return remembered
    openmp = _openmp(shown, family)
    toolchain = Toolchain(name, shown, family, version, openmp, identity)
    if note:
        _remember(note, toolchain)
    return toolchain


def _openmp(path: str, family: str) -> str:
    problem = _compiles(path, base_flags(family, openmp=True))
    if not problem:
        return "yes"
    without = _compiles(path, base_flags(family, openmp=False))
    if without:
        raise PrerequisiteError(f"{path} cannot build a library: {without}")
    return problem


def _compiles(path: str, flags: list[str]) -> str:
    """Empty if a small library builds, else the compiler's first complaint."""
    with workroom("compiler") as folder:
        (folder / "probe.cpp").write_text(_PROBE, encoding="utf-8")
        command = [path, *flags, "-shared", "-fPIC", "probe.cpp", "-o", "probe.so"]
        done = run(command, folder)
    if done.returncode:
        require_room()
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line or "cannot find" in line] or lines
    return "" if done.returncode == 0 else (telling or ["it fails without a word"])[0][:300]


def _remembered(note: Path | None) -> Toolchain | None:
    try:
        return Toolchain(**json.loads(note.read_text(encoding="utf-8"))) if note else None
    except (OSError, ValueError, TypeError):
        return None


def _remember(note: Path, toolchain: Toolchain) -> None:
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        fresh = note.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps(asdict(toolchain)), encoding="utf-8")
        fresh.replace(note)
    except OSError:
        return  # found out again next time
