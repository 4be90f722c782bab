"""How noisy this session is: a kernel against twins of itself (A/A)."""

import contextlib
import time
from collections.abc import Sequence

import numpy as np

from kernelwright.evaluation.entrant import Entrant
from kernelwright.evaluation.host import Host
from kernelwright.evaluation.sides import RingSide
from kernelwright.evaluation.trial import LEAST_DEADLINE
from kernelwright.evaluation.twins import Twins
from kernelwright.records.task import Case
from kernelwright.timing.protocol import Pairs, measure
from kernelwright.timing.statistics import Interval, Noise, bootstrap_median

MOST_PAIRS = 20
LEAST_PAIRS = 8
TWINS = 3
SECONDS = 4.0


def measure_noise(twins: Twins) -> Noise:
    """Compare a baseline with twins of itself, each in a process and memory of its own.

    Raises:
        Rejected: the baseline broke.
    """
    return _noise([_compared(*twins.sides(), number) for number in range(TWINS)])


def candidates_noise(host: Host, entrant: Entrant, case: Case) -> Noise:
    """Compare a candidate with twins of itself, as it is going to be timed.

    Raises:
        Rejected: it failed.
    """
    found: list[tuple[Interval, int]] = []
    for number in range(TWINS):
        with contextlib.ExitStack() as stack:
            secret, sides = host.answers.seed("noise", number), []
            for owner in ("candidate", "rival"):
                worker = entrant.settle()
                stack.callback(worker.close)
                ring = host.ring(case, owner)
                worker.bind(ring, LEAST_DEADLINE)
                sides.append(host.side(worker, ring, secret))
            found.append(_compared(sides[0], sides[1], number))
        host.move(case)
    return _noise(found)


def _noise(found: Sequence[tuple[Interval, int]]) -> Noise:
    return Noise(
        half_width=float(np.median([interval.half_width for interval, _ in found])),
        pairs=min(pairs for _, pairs in found),
        between=max(abs(interval.median) for interval, _ in found),
    )


def _compared(other: RingSide, one: RingSide, number: int) -> tuple[Interval, int]:
    pairs = Pairs()
    deadline = time.monotonic() + SECONDS / TWINS
    measure(other, one, pairs, LEAST_PAIRS)
    measure(other, one, pairs, MOST_PAIRS, lambda: time.monotonic() < deadline)
    return bootstrap_median(pairs.log_ratios, seed=number), len(pairs)
