"""What this machine has of what the main job needs, one finding each.

C++ compilers are tried by really compiling and running; every other language is asked.
"""

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from kernelwright import plugins, sandbox
from kernelwright.errors import KernelwrightError, PrerequisiteError, UserError
from kernelwright.languages.base import Availability
from kernelwright.languages.cpp import Cpp
from kernelwright.report import text
from kernelwright.sandbox.scratch import workroom
from kernelwright.settings import Settings
from kernelwright.store.place import check_place
from kernelwright.verbs import isolation, setup

PROBE = """#include <cstdio>
#ifdef _OPENMP
extern "C" int omp_get_num_threads(void);
#else
static int omp_get_num_threads() { return 1; }
#endif
int main() {
  int seen = 0;
#pragma omp parallel num_threads(2) reduction(+ : seen)
  seen += omp_get_num_threads();
  return std::printf("%d\\n", seen) < 0;
}
"""
COMPILERS = ("g++", "clang++")
INSTALL = {
    "apt-get": {"g++": "apt-get install g++", "clang++": "apt-get install clang libomp-dev"},
    "dnf": {"g++": "dnf install gcc-c++", "clang++": "dnf install clang libomp-devel"},
    "pacman": {"g++": "pacman -S gcc", "clang++": "pacman -S clang openmp"},
    "zypper": {"g++": "zypper install gcc-c++", "clang++": "zypper install clang libomp-devel"},
    "apk": {"g++": "apk add g++", "clang++": "apk add clang openmp-dev"},
}
LEAST_MEMORY = 2 << 30
LEAST_DISK = 1 << 30


class Finding(BaseModel):
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "limited", "missing"]
    """limited: it works with less; missing: the main job cannot run, unless optional."""
    detail: str
    mend: str = ""
    """The command, or the act, that mends it."""
    optional: bool = False
    layers: tuple[isolation.Layer, ...] = ()
    """Of the sandbox."""


def findings(settings: Settings) -> Iterator[Finding]:
    """Look at everything, one after the other."""
    yield _python()
    for name in dict.fromkeys((*COMPILERS, settings.compiler)):
        if name:
            yield _compiler(name, optional=settings.compiler != name)
    yield _cores()
    yield _memory()
    yield _sandbox(settings)
    yield _store(settings)
    yield _disk(settings)
    for name in plugins.names("languages"):
        if name != Cpp.name:  # its compilers were tried
            yield _language(name)


def _python() -> Finding:
    return Finding(
        name="python",
        state="ok",
        detail=f"{platform.python_version()} on {platform.system()} {platform.machine()}",
    )


def _compiler(name: str, *, optional: bool) -> Finding:
    path = shutil.which(name)
    if path is None:
        # The second compiler is no more than a choice: its absence needs no mending.
        mend = "" if optional and name != COMPILERS[0] else _install(name)
        return Finding(
            name=name, state="missing", detail="not on PATH", mend=mend, optional=optional
        )
    parallel, printed = _tried(path, ["-fopenmp"])
    works = parallel and printed == "4"
    state: Literal["ok", "limited", "missing"] = "ok"
    said = "OpenMP works"
    if not works:
        state = "limited" if _tried(path, [])[0] else "missing"
        said = f"OpenMP does not work: {printed}" if not parallel else "OpenMP gives one thread"
    version = _finished([path, "--version"]).stdout.partition("\n")[0]
    return Finding(
        name=name,
        state=state,
        detail=f"{version}; {said}",
        mend="" if works else _install(name),
        optional=optional,
    )


def _tried(path: str, flags: list[str]) -> tuple[bool, str]:
    """Whether the probe builds and runs, and what it printed or why not."""
    try:
        with workroom("doctor") as folder:
            (folder / "probe.cpp").write_text(PROBE)
            done = _finished([path, "-O2", *flags, "probe.cpp", "-o", "probe"], folder)
            if done.returncode == 0:
                done = _finished(["./probe"], folder)
    except PrerequisiteError as problem:
        return False, problem.message
    if done.returncode == 0:
        return True, done.stdout.strip()
    lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit {done.returncode}"]
    telling = [line for word in ("cannot find", "error") for line in lines if word in line]
    return False, (telling or lines)[0]


def _cores() -> Finding:
    usable, all_of_them = len(os.sched_getaffinity(0)), os.cpu_count() or 1
    if usable > 1:
        return Finding(name="cores", state="ok", detail=f"{usable} of {all_of_them} usable")
    return Finding(
        name="cores",
        state="limited",
        detail="1: kernels and their judge share it, so times are noisier",
        mend="allow this process at least 2 cores",
    )


def _memory() -> Finding:
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            free = int(line.split()[1]) * 1024
    enough = free >= LEAST_MEMORY
    return Finding(
        name="memory",
        state="ok" if enough else "limited",
        detail=f"{text.bytes_(free)} available",
        mend="" if enough else f"free memory: {text.bytes_(LEAST_MEMORY)} is comfortable",
    )


def _sandbox(settings: Settings) -> Finding:
    strict = settings.sandbox == "require"
    try:
        report = sandbox.probe("auto")
    except KernelwrightError as problem:
        state: Literal["missing", "limited"] = "missing" if strict else "limited"
        return Finding(name="sandbox", state=state, detail=problem.message, mend=problem.hint)
    found = isolation.layers(report)
    lacking: Literal["missing", "limited"] = "missing" if strict else "limited"
    return Finding(
        name="sandbox",
        state="ok" if all(one.active for one in found) else lacking,
        detail=isolation.in_short(found),
        mend=isolation.mend(found),
        layers=found,
    )


def _store(settings: Settings) -> Finding:
    try:
        check_place(settings.store or None)
        with setup.store(settings, new=False) as store:
            place = store.place
    except UserError as problem:
        return Finding(name="store", state="missing", detail=problem.message, mend=problem.hint)
    return Finding(name="store", state="ok", detail=place)


def _disk(settings: Settings) -> Finding:
    place = settings.cache
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    enough = free >= LEAST_DISK
    return Finding(
        name="disk",
        state="ok" if enough else "limited",
        detail=f"{text.bytes_(free)} free for {settings.cache}",
        mend="" if enough else f"free space, or point KERNELWRIGHT_CACHE elsewhere than {place}",
    )


def _language(name: str) -> Finding:
    """What a language says of itself."""
    try:
        with plugins.using("languages", name):
            found: Availability = plugins.make("languages", name).available()
    except PrerequisiteError as problem:
        found = Availability(reason=problem.message, hint=problem.hint)
    return Finding(
        name=name,
        state="ok" if found.ok else "missing",
        detail=found.version or f"{found.reason}; only for what is written in {name}",
        mend=found.hint,
        optional=True,
    )


def _install(name: str) -> str:
    family = "clang++" if "clang" in name else "g++"
    for manager, commands in INSTALL.items():
        if shutil.which(manager):
            return commands[family]
    return f"install {name} with OpenMP from your system's packages"


def _finished(command: list[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
            cwd=folder,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return subprocess.CompletedProcess(command, 1, "", f"error: {problem}")
