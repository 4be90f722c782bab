"""Whether a workload can be held on this machine at all; asked before anything is allocated."""

import math
import os

from kernelwright.errors import TaskError
from kernelwright.records.task import Shaped


def check_memory(name: str, tensors: tuple[Shaped, ...]) -> None:
    """Refuse what cannot be held: several copies are needed, the answer in float64 among them.

    Raises:
        TaskError: one argument set takes more than a quarter of the memory.
    """
    wanted = sum(8 * math.prod(item.shape) for item in tensors)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if wanted > memory // 4:
        shown = min(wanted, 1 << 1000)  # what is larger is no float
        raise TaskError(
            f"workload {name!r} takes {_gib(shown)} GiB in float64, more than a quarter of the "
            f"{_gib(memory)} GiB of memory here",
            hint="give it smaller axes: several copies are held at a time",
        )


def _gib(size: int) -> str:
    """Whole ones, unless there are few or so many that nobody reads them."""
    found = size / 2**30
    return f"{found:,.0f}" if 10 <= found < 1e9 else f"{found:.2g}"
