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
            f"workload {name!r} takes {shown / 2**30:.3g} GiB in float64, of {memory / 2**30:.0f}",
            hint="give it smaller axes: several copies are held at a time",
        )
