"""Which cores a kernel's threads get, by what its library says of how it starts them.

OpenMP's threads are bound to a core each, the first one included, and every thread that a bound
one starts inherits its single core. So only libraries whose threads are all OpenMP's are bound.
"""

import os
from pathlib import Path

from kernelwright.evaluation.objects import RUNTIME, library_name
from kernelwright.languages import elf

_OPENMP = ("GOMP_", "__kmpc_")
_STARTS = ("pthread_create", "thrd_create", "clone", "dlopen", "_ZNSt6thread15_M_start_thread")
"""How the names begin by which a library gets threads of its own, or libraries that do."""


def hold(threads: int) -> None:
    """Keep this process, and all that it will start, to as many cores as kernels have threads.

    Else a kernel that counts cores instead of asking for its number of threads would get more than
    its rival.
    """
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def only_openmp(library: Path) -> bool:
    """Whether all threads of a library are OpenMP's; no for what cannot be read."""
    try:
        wants = elf.wants(library.read_bytes())
    except ValueError:
        return False
    openmp = any(name.startswith(_OPENMP) for name in wants.symbols)
    own = any(name.startswith(_STARTS) for name in wants.symbols)
    # Libraries of the language start no threads but OpenMP's.
    return openmp and not own and all(library_name(name) in RUNTIME for name in wants.libraries)
