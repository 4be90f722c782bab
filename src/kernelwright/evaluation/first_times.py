"""The first look at a baseline: does it run, is it right, how long does it take?"""

import time

import numpy as np

from kernelwright.checks.finding import Rejected
from kernelwright.errors import JudgeError, TaskError
from kernelwright.evaluation.cases import Cases
from kernelwright.evaluation.hearing import hear
from kernelwright.evaluation.host import Host
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.evaluation.rivals import unavailable
from kernelwright.records.task import Case

BLOCKS = 7
SECONDS = 1.0
SLACK = 4.0
"""How much further than a candidate a baseline may be off: it is not being certified."""


class Unusable(Exception):
    """Why a baseline cannot be compared with, for people."""


def first_times(host: Host, name: str, cases: Cases) -> dict[str, float]:
    """Median microseconds of a few calls of one baseline, by workload.

    What compiles anew for every shape is not asked for the smallest, on which nobody times it.

    Args:
        host: the bench.
        name: of the baseline.
        cases: what to time; on the last its results are checked.

    Raises:
        Unusable: it cannot be run here, breaks, or is wrong.
    """
    try:
        shown = cases.timed if name == "compile" else [*cases.timed, cases.smoke]
        found = {case.workload: _time(host, name, case) for case in shown}
        if wrong := _wrong(host, name, shown[-1]):
            raise Unusable(f"its results are wrong: {wrong}")
    except Rejected as rejection:
        raise Unusable(unavailable(rejection)) from rejection
    except ReferenceFailure:
        raise
    except (JudgeError, TaskError) as problem:
        raise Unusable(problem.message) from problem
    return found


def _time(host: Host, name: str, case: Case) -> float:
    side = host.rival_side(name, case, host.answers.seed("first", name))
    blocks = [side.block()]
    started = time.monotonic()
    while len(blocks) <= BLOCKS and time.monotonic() - started < SECONDS:
        blocks.append(side.block())
    return float(np.median(blocks[1:] or blocks))


def _wrong(host: Host, name: str, case: Case) -> str:
    """What is wrong with a baseline's outputs; empty if nothing."""
    side = host.rival_side(name, case, host.answers.seed("right", name))
    side.block()
    answers, task = host.answers, host.answers.task.tolerance
    loose = task.model_copy(update={"k": SLACK * task.k})
    question = answers.timed(case, side.ring.inputs.contents(0))
    for output in answers.base(case).compared:
        got, poison = side.ring.output(0, output), side.ring.poisons[0]
        if finding := hear(answers, question, output, got, loose, poison).compared.finding:
            return finding.reason
    return ""
