"""How noisy this session is: a baseline against twins of itself (A/A)."""

import time

import numpy as np

from kernelwright.checks.finding import Rejected
from kernelwright.evaluation.host import Host
from kernelwright.evaluation.sides import broken
from kernelwright.evaluation.worker import Worker
from kernelwright.records.task import Case
from kernelwright.timing.protocol import Pairs, measure
from kernelwright.timing.statistics import Interval, Noise, bootstrap_median

MOST_PAIRS = 20
LEAST_PAIRS = 8
TWINS = 3
SECONDS = 4.0
BIND_SECONDS = 300.0


def measure_noise(host: Host, name: str, case: Case) -> Noise:
    """Compare a baseline with twins of itself, each in a process and memory of its own.

    Raises:
        TaskError: the baseline broke.
    """
    found: list[tuple[Interval, int]] = []
    twin: Worker | None = None
    try:
        for number in range(TWINS):
            # One that imports a framework takes seconds to start: it moves instead.
            if twin is None or name == "loop":
                if twin is not None:
                    twin.close()
                twin = host.rivals.twin(name, host.ring(case))
            else:
                twin.bind(host.ring(case), BIND_SECONDS)
            found.append(_against_itself(host, name, case, twin, number))
            host.move(case)
    except Rejected as rejection:
        raise broken(rejection.finding) from rejection
    finally:
        if twin is not None:
            twin.close()
    return Noise(
        half_width=float(np.median([interval.half_width for interval, _ in found])),
        pairs=min(pairs for _, pairs in found),
        between=max(abs(interval.median) for interval, _ in found),
    )


def _against_itself(
    host: Host, name: str, case: Case, twin: Worker, number: int
) -> tuple[Interval, int]:
    one = host.rival_side(name, case, host.answers.seed("noise", number))
    other, pairs = host.side(twin, host.ring(case), one.secret), Pairs()
    deadline = time.monotonic() + SECONDS / TWINS
    measure(other, one, pairs, LEAST_PAIRS)
    measure(other, one, pairs, MOST_PAIRS, lambda: time.monotonic() < deadline)
    return bootstrap_median(pairs.log_ratios, seed=number), len(pairs)
