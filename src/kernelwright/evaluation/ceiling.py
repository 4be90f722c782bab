"""Bandwidth as a candidate could at best see it: a copy and a read, judged like candidates.

A copy timed in any other way - caches warm, pages large, in the verifier's own process - reaches
rates that no kernel can reach here, and the roof would be out of sight.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from kernelwright.evaluation.arena import Array
from kernelwright.evaluation.ring import Ring
from kernelwright.evaluation.ring_inputs import Inputs
from kernelwright.evaluation.sides import RingSide
from kernelwright.evaluation.worker import Worker
from kernelwright.records.task import Case, Shaped

ELEMENTS = 4 << 20
SLOTS = 5
"""Calls a block, as many as a fast kernel gets."""
BLOCKS = 5
BURSTS = 3
"""The fastest counts: something else that runs for a moment slows one of them, hardly all."""
DEADLINE = 60.0
WAYS = {"copy": ("copy_plain", "copy_streaming"), "read": ("read_all",)}
"""Entries of ``peaks.cpp``; the fastest of each kind counts."""


def measure(
    library: Path, start: Callable[[], Worker], flush: Callable[[], None]
) -> dict[str, float]:
    """Bytes moved a nanosecond by ``copy`` (both directions counted) and by ``read``.

    Args:
        library: ``peaks.cpp``, built.
        start: gives a fresh trusted worker.
        flush: empties the caches.
    """
    case = Case(
        workload="ceiling",
        device="cpu",
        inputs=(Shaped(name="x", shape=(ELEMENTS,), dtype="float32"),),
        outputs=(Shaped(name="y", shape=(ELEMENTS,), dtype="float32"),),
        scalars=(),
        axes={"N": ELEMENTS},
    )
    base = {"x": np.random.default_rng(1).standard_normal(ELEMENTS, dtype=np.float32)}
    ring = Ring(Inputs(case, SLOTS, sealed=True))
    ring.inputs.fill(base)
    try:
        return {
            kind: 4
            * ELEMENTS
            * (2 if kind == "copy" else 1)
            / (1e3 * min(_time(library, entry, start(), ring, base, flush) for entry in entries))
            for kind, entries in WAYS.items()
        }
    finally:
        ring.close()
        ring.inputs.close()


def _time(
    library: Path,
    entry: str,
    worker: Worker,
    ring: Ring,
    base: Mapping[str, Array],
    flush: Callable[[], None],
) -> float:
    """Median microseconds of a few blocks, in the fastest burst of them."""
    try:
        worker.load({"library": str(library), "entry": entry}, DEADLINE)
        worker.bind(ring, DEADLINE)
        side = RingSide(worker, ring, base, 1, flush, DEADLINE)
        side.block()
        bursts = [[side.block() for _ in range(BLOCKS)] for _ in range(BURSTS)]
        return min(float(np.median(blocks)) for blocks in bursts)
    finally:
        worker.close()
