"""What the processes that run kernels and baselines are told by their environment."""

import os
from pathlib import Path

KEEPS_MEMORY = {
    "GLIBC_TUNABLES": f"glibc.malloc.trim_threshold={1 << 40}:glibc.malloc.mmap_max=0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_MMAP_MAX_": "0",
}
"""Memory that was freed is kept, by either name of the setting. Whether the system takes it back,
and hands out other pages that it must clear first, depends on what else was allocated; it comes
and goes with the buffers, and makes a short call several times as long."""
NO_HEADERS = {"TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0"}
"""The framework keeps kernels in its cache, but precompiles headers for them in the temporary
folder, which is another in each session: seconds for what nobody needs."""


def environment(threads: int, folder: Path, cache: Path, *, bound: bool = True) -> dict[str, str]:
    """The whole environment of a worker.

    Threads that wait spin for some ten microseconds, as long as the next parallel region is
    about to come, then sleep, so that nobody takes a rival's cores.

    Args:
        threads: how many a kernel gets.
        folder: where it may write.
        cache: where what a compiler made is kept.
        bound: each of OpenMP's threads gets a core of its own, and what they start, theirs.
    """
    count = str(threads)
    places = {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"} if bound else {}
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": count,
        "GOMP_SPINCOUNT": "20000",
        "KMP_BLOCKTIME": "1",
        "OPENBLAS_NUM_THREADS": count,
        "OPENBLAS_THREAD_TIMEOUT": "16",  # 2^16 cycles of spinning; by default 2^26
        "MKL_NUM_THREADS": count,
        **KEEPS_MEMORY,
        "TORCHINDUCTOR_CACHE_DIR": str(cache / "inductor"),
        **places,
    }
