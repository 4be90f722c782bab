"""Whether a task may be judged in a session: no wrong answer passes wherever calls are timed.

What is allowed grows with the size: a long sum errs much, and a single count of millions turns now
and then. So what was seen at the smallest workload says little of those that are timed.
"""

from kernelwright.checks.sensitivity import InsensitiveTask
from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.cases import Cases
from kernelwright.evaluation.sensing import sense
from kernelwright.records.sensitivity import Sensitivity

SENSE_SECONDS = 5.0
"""After which no further input is tried when a session is opened; ``tasks check`` tries all."""


def admitted(answers: Answers, cases: Cases, known: Sensitivity | None) -> Sensitivity:
    """What the task's comparison tells apart, and with which tolerance.

    Args:
        answers: of the task.
        cases: its workloads.
        known: what was seen before. The controls are tried anew where a workload is missing there,
            or where its answer is undecided in this session: nothing such is timed.

    Raises:
        InsensitiveTask: a wrong answer passes.
        ReferenceFailure: the reference fails.
    """
    larger = [one for one in cases.timed if one.workload != cases.smoke.workload]
    seen = {one.workload for one in known.workloads} if known else set()
    if known is None or not all(
        one.workload in seen and answers.base(one).decided for one in (cases.smoke, *larger)
    ):
        known = sense(answers, [cases.smoke], SENSE_SECONDS, larger)
    if known.refused:
        raise InsensitiveTask(known)
    return known
