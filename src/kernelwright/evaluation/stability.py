"""Hostile questions: at the smallest size, at the timed one, and once more after the timed calls.

What they hold is in ``tasks/hostile.py``.
"""

import math
import random
import time
from collections.abc import Callable

from kernelwright.checks.finding import Finding
from kernelwright.evaluation.cases import Cases
from kernelwright.evaluation.ring import POISONS, Ring, Rings
from kernelwright.evaluation.rows import in_a_row, once_only
from kernelwright.evaluation.trial import WRONG, Trial
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Case
from kernelwright.tasks import edges, hostile

FEWEST_KINDS = 3
TIMED_BYTES = 64 << 20
"""What questions of several hostile kinds at the timed size may hold together."""
TIMED_SECONDS = 2.0
"""After which no further kind is asked about; those that were answered in a session are quick."""
AFTER_SECONDS = 60.0
"""What the question after the timed calls may take, whatever was taken before."""


def small(trial: Trial, cases: Cases, rings: Rings) -> None:
    """Every kind at the smallest size."""
    for kind in hostile.kinds(cases.smoke):
        _hostile(trial, cases.smoke, kind, rings)


def timed(trial: Trial, cases: Cases, rings: Rings) -> None:
    """Outliers, then kinds in an order of the secret's, as time and memory allow; both poisons."""
    case = cases.timed[0]
    if case.workload == cases.smoke.workload:
        return
    kinds = _timed_kinds(trial, case)
    until = time.monotonic() + TIMED_SECONDS
    for number, kind in enumerate(kinds[: max(FEWEST_KINDS, TIMED_BYTES // _bytes(case))]):
        if number >= FEWEST_KINDS and time.monotonic() > until:
            break
        for pattern in POISONS:
            _hostile(trial, case, kind, rings, pattern)


def afterwards(trial: Trial, case: Case, ring: Ring) -> None:
    """One hostile question more, once calls were timed: the same process, the same buffers.

    A kernel that counts its calls, or knows where timed calls read, is no other one here.

    Args:
        trial: of the candidate, in the process of the last timed calls.
        case: what was timed.
        ring: with which.

    Raises:
        Rejected: the answer was wrong, or the call did what none may do.
    """
    kind = next(iter(_timed_kinds(trial, case)), None)
    if kind is None:
        return
    name = f"{case.workload}, hostile {kind}"
    with trial.check(f"after {case.workload}"), trial.where_defined(name):
        question = trial.answers.hostile(case, kind)
        trial.allow(AFTER_SECONDS)
        blame = _by_state if name in trial.stable else _blame(kind)
        trial.correct(question, ring=ring, blame=blame)
        in_a_row(trial, question, ring, blame)


def _timed_kinds(trial: Trial, case: Case) -> list[str]:
    """Finite kinds, in the order in which they are asked about at a size that is timed.

    A fast algorithm for large sizes adds what the reference keeps apart, and makes NaN of an
    infinity. Outliers come first: they show most that a look at some elements does not.
    """
    kinds = [kind for kind in hostile.kinds(case) if kind not in hostile.NON_FINITE]
    random.Random(trial.answers.seed("timed kinds")).shuffle(kinds)
    return sorted(kinds, key=lambda kind: kind != hostile.OUTLIERS)


def _hostile(trial: Trial, case: Case, kind: str, rings: Rings, pattern: int | None = None) -> None:
    name = f"{case.workload}, hostile {kind}"
    with trial.where_defined(name):
        question, ring = trial.answers.hostile(case, kind), rings(case, sealed=True)
        named = once_only(trial, question, ring, _blame(kind))
        trial.correct(question, ring=ring, blame=named, pattern=pattern)
        if name not in trial.stable:
            in_a_row(trial, question, ring, _blame(kind))
        trial.stable.add(name)


def _bytes(case: Case) -> int:
    """Of a question: its inputs, and the answers in float64."""
    inputs = sum(math.prod(item.shape) * edges.ITEM_BYTES[item.dtype] for item in case.inputs)
    return inputs + 8 * sum(math.prod(item.shape) for item in case.outputs) or 1


def _blame(kind: str) -> Callable[[Finding], Finding]:
    return _same if kind == hostile.INTEGERS else _unstable


def _same(finding: Finding) -> Finding:
    return finding


def _unstable(finding: Finding) -> Finding:
    if finding.outcome not in WRONG:
        return finding
    return Finding(Outcome.NUMERICALLY_UNSTABLE, finding.reason, finding.evidence)


def _by_state(finding: Finding) -> Finding:
    """Wrong after the timed calls, before which the same question was answered right."""
    if finding.outcome not in WRONG:
        return finding
    reason = f"wrong on hostile values once its calls had been timed: {finding.reason}"
    return Finding(Outcome.NUMERICALLY_UNSTABLE, reason, finding.evidence)
