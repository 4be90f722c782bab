"""Questions asked in a row of calls, as a block is: whoever is careful alone is careless there."""

import random
from collections.abc import Callable

from kernelwright.checks.finding import Finding, Rejected, located
from kernelwright.evaluation.hearing import hear, late
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.ring import POISONS, Ring
from kernelwright.evaluation.trial import Trial

MOST = 5
"""Calls of a row: as many as a block has at most."""


def in_a_row(
    trial: Trial, question: Question, ring: Ring, blame: Callable[[Finding], Finding]
) -> None:
    """Call several times at once on the same contents, and compare what the last call left.

    Args:
        trial: of the candidate.
        question: contents and right outputs; an unfair one is called but not compared.
        ring: slots of it are called in a drawn order.
        blame: turns a finding on values into the outcome of the calling stage.

    Raises:
        Rejected: with the reason.
    """
    case, number = question.case, len(trial.checks) + len(trial.stable)
    dice = random.Random(trial.answers.seed("in a row", case.workload, number))
    order = [dice.randrange(ring.slots) for _ in range(dice.randint(2, MOST))]
    ring.inputs.fill(question.contents)
    trial.bind(ring)
    for slot in set(order):
        ring.poison(slot, POISONS[number % 2])
    trial.worker.run(order, trial.deadline)
    last = order[-1]
    if found := ring.trespass(last) or trial.worker.left_behind():
        raise Rejected(located(found, case))
    for item in case.outputs if question.fair else ():
        got = ring.output(last, item.name)
        heard = hear(
            trial.answers, question, item.name, got, trial.task.tolerance, ring.poisons[last]
        )
        if finding := heard.compared.finding:
            if deferred := late(heard, ring.output(last, item.name), trial.task.tolerance):
                raise Rejected(located(deferred, case))
            reason = f"right alone, but not in a row of {len(order)} calls: {finding.reason}"
            told = blame(Finding(finding.outcome, reason, finding.evidence))
            raise Rejected(located(told, case))
