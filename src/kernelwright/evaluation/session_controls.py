"""Controls of a session: what the judge must see before its verdicts on others can be believed.

A twin of the baseline whose calls are prolonged by a tenth must be decided *slower*; a kernel that
does nothing must take next to nothing. A control that fails is repeated once, in other memory. How
the baseline fares against plain twins of itself is no test of its own: it makes the margin, by
which every verdict is widened.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernelwright.checks.finding import Rejected
from kernelwright.errors import ControlError, JudgeError, PrerequisiteError
from kernelwright.evaluation.clocks import Clocks
from kernelwright.evaluation.host import Host
from kernelwright.evaluation.sides import RingSide
from kernelwright.evaluation.twins import Twins
from kernelwright.records.outcome import Decision
from kernelwright.records.session_control import SessionControl, Verdict
from kernelwright.records.task import Case
from kernelwright.timing.protocol import compare
from kernelwright.timing.statistics import Interval, Noise

PLANTED = 0.1
"""Share of its own time by which the planted kernel is slower."""
LOOKS = (8, 16, 30)
SECONDS = 1.0
"""After which the planted kernel is judged by what was measured so far."""
WIDE = 0.02
"""Largest half-width of the A/A interval, at as many pairs as a look takes at most."""
LAST_LOOK = 300
BLOCKS = 6
DEADLINE = 60.0
HINT = (
    "close what else works on this machine and try again, or use fewer cores (--threads); "
    "a run that was stopped goes on with 'kernelwright runs resume'"
)


@dataclass(frozen=True)
class Nothing:
    """A kernel that does nothing."""

    library: Path
    case: Case
    """Whose buffers it is called with."""


def prove(twins: Twins, noise: Noise, nothing: Nothing) -> tuple[SessionControl, ...]:
    """Run every control.

    Args:
        twins: of the baseline that candidates will be compared with.
        noise: seen of it in this session.
        nothing: must sit at the floor.

    Raises:
        ControlError: one failed twice.
        Rejected: the baseline broke.
    """
    return (
        against_itself(noise),
        _twice(lambda: planted_slower(twins, noise)),
        _twice(lambda: no_op(twins.host, nothing)),
    )


def against_itself(noise: Noise) -> SessionControl:
    """How far the A/A comparisons of this session were from saying *same*."""
    half = noise.half_width * math.sqrt(noise.pairs / LAST_LOOK)
    return SessionControl(
        name="against itself",
        verdict="held" if half <= WIDE else "too noisy",
        said=f"the baseline differs from twins of itself by {math.expm1(noise.between):.1%} at "
        f"most, give or take {math.expm1(half):.1%} after {LAST_LOOK} pairs",
        value=math.exp(noise.between),
        limit=noise.margin(LAST_LOOK),
        pairs=noise.pairs,
        seconds=0.0,
    )


def planted_slower(twins: Twins, noise: Noise) -> SessionControl:
    """A twin that is slower by a tenth, judged as a candidate would be.

    Raises:
        Rejected: the baseline broke.
    """
    started = time.monotonic()

    def place() -> tuple[RingSide, RingSide]:
        twin, baseline = twins.sides()
        twin.handicap = PLANTED
        return twin, baseline

    ((pairs, interval, decision, margin),) = compare(
        place,
        looks=LOOKS,
        noise=noise,
        seed=0,
        enough_time=lambda: time.monotonic() - started < SECONDS,
    )
    verdict = verdict_on_planted(interval, decision, margin)
    said = (
        f"a kernel made {PLANTED:.0%} slower was decided {decision.value}: ratio "
        f"{math.exp(interval.median):.3f} [{math.exp(interval.low):.3f}, "
        f"{math.exp(interval.high):.3f}], margin {margin:.1%}"
    )
    if verdict == "too noisy":
        said = f"too noisy to tell {PLANTED:.0%}: {said}"
    return SessionControl(
        name="planted slower",
        verdict=verdict,
        said=said,
        value=math.exp(interval.median),
        limit=margin,
        pairs=len(pairs),
        seconds=time.monotonic() - started,
    )


def verdict_on_planted(interval: Interval, decision: Decision, margin: float) -> Verdict:
    """Whether the judge saw what was planted, could not in this noise, or failed.

    It could not where a difference of that size, off by as much as this session's twins are from
    each other, would not clear the margin. Whoever takes the planted kernel for faster has failed
    in any noise.
    """
    if decision is Decision.SLOWER:
        return "held"
    lost = 2 * math.log1p(margin) + interval.half_width
    noisy = decision is not Decision.FASTER and lost >= math.log1p(PLANTED)
    return "too noisy" if noisy else "failed"


def no_op(host: Host, nothing: Nothing) -> SessionControl:
    """A kernel that does nothing, in a worker: it must cost less than asking for it costs.

    The least block counts, since a busy machine prolongs some of them and never all.

    Raises:
        Rejected: its process broke.
    """
    started = time.monotonic()
    clocks = _blocks_of(host, nothing)
    least, asking = min(clocks.claimed), float(np.median(clocks.excess))
    return SessionControl(
        name="no-op",
        verdict="held" if least <= asking else "failed",
        said=f"a call that does nothing took {least:.2f} us; asking for a block takes "
        f"{asking:.0f} us",
        value=least,
        limit=asking,
        pairs=BLOCKS,
        seconds=time.monotonic() - started,
    )


def asking_us(host: Host, nothing: Nothing | None) -> float:
    """Microseconds that asking for a block takes at present, before and after its calls.

    Caches are emptied before a block, so a worker fetches itself from memory first: on a machine
    whose memory is busy that takes several times as long as on a quiet one, in all blocks. The
    median of a few blocks of a kernel that does nothing; 0 if nobody can tell.
    """
    if nothing is None:
        return 0.0
    try:
        return float(np.median(_blocks_of(host, nothing).excess))
    except (Rejected, JudgeError, PrerequisiteError):
        return 0.0


def _blocks_of(host: Host, nothing: Nothing) -> Clocks:
    worker = host.rivals.start("loop")
    try:
        worker.load({"library": str(nothing.library), "entry": "noop"}, DEADLINE)
        ring = host.ring(nothing.case)
        worker.bind(ring, DEADLINE)
        side = host.side(worker, ring, host.answers.seed("no-op"))
        for _ in range(BLOCKS):
            side.block()
    finally:
        worker.close()
    return side.clocks


def _twice(control: Callable[[], SessionControl]) -> SessionControl:
    """A control, once more if it fails.

    Raises:
        ControlError: it failed twice.
    """
    found = control()
    if found.verdict == "failed":
        found = control()
    if found.verdict == "failed":
        raise ControlError(
            f"no verdict can be given: the control '{found.name}' failed twice ({found.said})",
            hint=HINT,
        )
    return found
