"""The CUDA compiler of this machine: where it lies, what belongs to it, for what it builds.

Whether it really builds is found out by building, only when somebody asks or a build failed in a
way that is not the source's fault.
"""

import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kernelwright.devices import gpu
from kernelwright.errors import PrerequisiteError
from kernelwright.languages import toolchain
from kernelwright.languages.toolchain import Toolchain
from kernelwright.sandbox.scratch import require_room, workroom

HOMES = ("CUDA_HOME", "CUDA_PATH")
"""Variables that name the toolkit's folder."""
PLACES = ("/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc")
"""Where it lies when it is not on the PATH."""
ARCHITECTURE = "sm_90a"
"""Where none is asked for and no device is seen."""
_PROBE = """
__global__ void probe(float* x) { x[0] = 0; }
extern "C" void call() { probe<<<1, 1>>>(nullptr); }
"""
_PARTS = ("bin/nvcc", "bin/ptxas", "bin/cudafe++", "nvvm/bin/cicc")


@dataclass(frozen=True)
class Nvcc:
    """One CUDA compiler and the C++ compiler that it builds host code with."""

    path: str
    version: str
    """Its number, and the name of the host's compiler."""
    home: Path
    """Folder of the toolkit."""
    folders: tuple[str, ...]
    """Of its libraries."""
    renames: bool
    """Whether it can be told another name for the folder of its source."""
    host: Toolchain
    identity: str
    """Changes when either compiler does."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """Folders outside the system's that it needs to run."""
        own = {self.home.resolve(), Path(self.path).parent.parent}
        outside = {home for home in own if home.parts[:2] not in (("/",), ("/", "usr"))}
        return tuple(sorted(outside.union(self.host.readable)))


class Target(NamedTuple):
    """What is built for."""

    name: str
    """As ``sm_90a``."""
    why: str
    """Where the choice came from, in words."""

    @property
    def option(self) -> str:
        """For nvcc: its machine code, and nothing that a driver would compile later."""
        return f"-gencode=arch=compute_{self.name.removeprefix('sm_')},code={self.name}"


def find(compiler: str = "", memory: Path | None = None) -> Nvcc:
    """The CUDA compiler: of ``CUDA_HOME`` or ``CUDA_PATH``, on the PATH, or in its usual place.

    Args:
        compiler: the C++ compiler for host code, as :func:`toolchain.find` takes it.
        memory: as there.

    Raises:
        UsageError: the C++ compiler is none that we know.
        PrerequisiteError: one of the two is missing, or does not even print what it would do.
    """
    homes = [Path(home) / "bin" / "nvcc" for name in HOMES if (home := os.environ.get(name))]
    on_path = shutil.which("nvcc")
    known = [*homes, *([Path(on_path)] if on_path else []), *map(Path, PLACES)]
    shown = next((path for path in known if os.access(path, os.X_OK)), None)
    if shown is None:
        raise PrerequisiteError(
            "no CUDA compiler: nvcc is not on the PATH, in CUDA_HOME or in /usr/local/cuda",
            hint="install the CUDA toolkit (Debian, Ubuntu: apt install nvidia-cuda-toolkit), "
            "or let CUDA_HOME name its folder",
        )
    return _examined(os.fspath(shown), toolchain.find(compiler, memory))


def target(wanted: str = "") -> Target:
    """What to build for: what is wanted, else the device that is here, else ``ARCHITECTURE``.

    Args:
        wanted: the setting ``cuda_arch``; empty: nothing in particular.
    """
    if wanted:
        return Target(wanted, "as cuda_arch says")
    seen = gpu.architecture()
    return Target(seen, "the GPU here") if seen else Target(ARCHITECTURE, "no GPU is seen here")


@cache
def complaint(compiler: Nvcc, goal: Target) -> str:
    """Why not even the smallest kernel can be built; empty if it can."""
    with workroom("nvcc") as folder:
        (folder / "probe.cu").write_text(_PROBE, encoding="utf-8")
        options = ["-ccbin", compiler.host.path, goal.option, "-shared", "-Xcompiler=-fPIC"]
        done = toolchain.run([compiler.path, *options, "probe.cu", "-o", "probe.so"], folder)
    if done.returncode == 0:
        return ""
    require_room()
    lines = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line or "fatal" in line]
    return (*telling, *lines, "it fails without a word")[0]


@cache
def _examined(shown: str, host: Toolchain) -> Nvcc:
    """What a compiler says of itself when asked what it would do; a wrapper is seen through."""
    with workroom("nvcc") as folder:
        (folder / "probe.cu").write_text(_PROBE, encoding="utf-8")
        planned = toolchain.run([shown, "--dryrun", "-c", "probe.cu", "-o", "probe.o"], folder)
    told = dict(re.findall(r"^#\$ (\w+)=(.*)$", planned.stderr, re.MULTILINE))
    number = re.search(r"\bV(\d[\d.]*)", toolchain.run([shown, "--version"]).stdout)
    if planned.returncode or "TOP" not in told or not number:
        said = (*planned.stderr.strip().splitlines(), "it says nothing")[0]
        raise PrerequisiteError(
            f"{shown} does not work: {said}", hint="install the CUDA toolkit anew"
        )
    home = Path(os.path.normpath(told["TOP"].strip()))
    own = Path(told.get("_HERE_", "").strip()) / "nvcc"
    path = os.fspath(own) if os.access(own, os.X_OK) else shown
    folders = re.findall(r'"-L([^"]+)"', told.get("LIBRARIES", ""))
    parts = [path, *(os.fspath(home / part) for part in _PARTS)]
    facts = [f"{part} {_stamp(part)}" for part in parts]
    known = "\n".join((number[1], host.identity, *facts))
    return Nvcc(
        path=path,
        version=f"nvcc {number[1]} with {host.version}",
        home=home,
        folders=tuple(os.path.normpath(folder) for folder in folders),
        renames="--orig_src_path_name" in planned.stderr,
        host=host,
        identity=hashlib.sha256(known.encode()).hexdigest()[:16],
    )


def _stamp(path: str) -> str:
    try:
        status = Path(path).stat()
    except OSError:
        return "missing"
    return f"{status.st_size} {status.st_mtime_ns}"
