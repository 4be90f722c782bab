"""How noisy this session is: the strongest baseline against twins of itself (A/A)."""

import time
from typing import Protocol

import numpy as np

from kernelwright.checks.finding import Rejected
from kernelwright.errors import JudgeError
from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.ring import Ring
from kernelwright.evaluation.rivals import Rivals
from kernelwright.evaluation.sides import RingSide
from kernelwright.evaluation.worker import Worker
from kernelwright.records.task import Case
from kernelwright.timing.protocol import Pairs, measure
from kernelwright.timing.statistics import Interval, Noise, bootstrap_median

MOST_PAIRS = 30
LEAST_PAIRS = 8
TWINS = 3
SECONDS = 4.0


class Host(Protocol):
    """What is needed of the bench."""

    answers: Answers
    rivals: Rivals
    strongest: str

    def ring(self, case: Case, owner: str = "candidate") -> Ring:
        """Buffers for timing."""

    def move(self, case: Case) -> None:
        """Buffers elsewhere."""

    def side(self, worker: Worker, ring: Ring, secret: int) -> RingSide:
        """A side for a trusted worker."""

    def rival_side(self, name: str, case: Case, secret: int) -> RingSide:
        """A side that runs a baseline."""


def measure_noise(host: Host, case: Case) -> Noise:
    """Compare the strongest baseline with twins of itself, each in a process and memory of its own.

    Raises:
        JudgeError: the baseline broke.
    """
    # A twin of the loop starts in milliseconds; one that imports a framework takes seconds.
    twins = TWINS if host.strongest == "loop" else 1
    try:
        found = [_twin(host, case, number, SECONDS / twins) for number in range(twins)]
    except Rejected as rejection:
        raise JudgeError(f"baseline {host.strongest} broke: {rejection}") from rejection
    return Noise(
        half_width=float(np.median([interval.half_width for interval, _ in found])),
        pairs=min(pairs for _, pairs in found),
        between=max(abs(interval.median) for interval, _ in found),
    )


def _twin(host: Host, case: Case, number: int, seconds: float) -> tuple[Interval, int]:
    one = host.rival_side(host.strongest, case, host.answers.seed("noise", number))
    ring, pairs = host.ring(case), Pairs()
    twin = host.rivals.twin(host.strongest, ring)
    try:
        other = host.side(twin, ring, one.secret)
        deadline = time.monotonic() + seconds
        measure(other, one, pairs, LEAST_PAIRS)
        measure(other, one, pairs, MOST_PAIRS, lambda: time.monotonic() < deadline)
    finally:
        twin.close()
    host.move(case)
    return bootstrap_median(pairs.log_ratios, seed=number), len(pairs)
