"""Facts about the processor, read from the system; measures nothing."""

import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

from kernelwright import __version__

CPUINFO = Path("/proc/cpuinfo")
LIBRARIES = ("numpy", "torch")
"""What baselines run on."""


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0))


@cache
def processor() -> str:
    """The model name, as the system gives it."""
    try:
        for line in CPUINFO.read_text().splitlines():
            if line.lower().startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


@cache
def last_level_cache() -> int:
    """Bytes of the largest cache that the system reports; 0 if it reports none."""
    sizes = [0]
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text().strip()
        unit = {"K": 1 << 10, "M": 1 << 20}.get(text[-1:], 1)
        sizes.append(int(text.rstrip("KM") or 0) * unit)
    return max(sizes)


@cache
def instructions() -> tuple[str, ...]:
    """Vector extensions that matter for kernels, those present, in order of age."""
    wanted = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512_bf16", "amx_tile", "asimd", "sve")
    try:
        text = CPUINFO.read_text()
    except OSError:
        return ()
    words = set(text.split())
    return tuple(name for name in wanted if name in words)


@cache
def versions() -> dict[str, str]:
    """Of what judges here and what baselines run on; a missing package is left out."""
    found = {"kernelwright": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def describe(threads: int) -> dict[str, str]:
    """What is written beside every result measured here."""
    return {
        "device": f"cpu: {processor()}",
        "threads": str(threads),
        "cores": str(cores()),
        "vectors": " ".join(instructions()),
        "load": f"{os.getloadavg()[0]:.2f}",
        "kernel": platform.release(),
        **versions(),
    }
