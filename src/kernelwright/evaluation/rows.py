"""Questions asked in a row of calls, as a block is: whoever is careful alone is careless there."""

import random
from collections.abc import Callable

from kernelwright.checks.finding import Finding, Rejected, located
from kernelwright.evaluation.block import MOST_CALLS
from kernelwright.evaluation.hearing import hear, late
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.ring import POISONS, Ring
from kernelwright.evaluation.trial import WRONG, Trial
from kernelwright.records.outcome import Outcome

AGAIN = 3
"""Rows after a wrong one, which tell what is always wrong from what is wrong now and then."""


def in_a_row(
    trial: Trial, question: Question, ring: Ring, blame: Callable[[Finding], Finding]
) -> None:
    """Call several times at once, the last time on contents that were answered right alone.

    The calls before are as in a timed block, each on fresh contents of its own, where the ring has
    room for them. What the last one left is compared. Where it is wrong, it is asked again, to name
    what is wrong: a state that has gone bad, a fault that is there now and then, or a kernel
    that is careful only where it is called alone.

    Args:
        trial: of the candidate.
        question: contents and right outputs; undecided ones are not compared.
        ring: slots of it are called in a drawn order.
        blame: turns a finding on values into the outcome of the calling stage.

    Raises:
        Rejected: with the reason.
    """
    number = len(trial.checks) + len(trial.stable)
    dice = random.Random(trial.answers.seed("in a row", question.case.workload, number))
    if ring.slots > 1:
        order = dice.sample(range(ring.slots), dice.randint(2, ring.slots))
        base = trial.answers.base(question.case).contents
        ring.inputs.fill_one(order[-1], question.contents, base, dice.getrandbits(62))
    else:
        order = [0] * dice.randint(2, MOST_CALLS)
        ring.inputs.fill(question.contents)
    trial.bind(ring)
    pattern = POISONS[number % 2]
    wrong = _asked(trial, question, ring, order, pattern)
    if wrong is None:
        return
    if wrong.outcome is not Outcome.DEFERRED_WORK:
        wrong = _named(trial, question, ring, order, wrong, blame)
    raise Rejected(located(wrong, question.case))


def once_only(
    trial: Trial, question: Question, ring: Ring, blame: Callable[[Finding], Finding]
) -> Callable[[Finding], Finding]:
    """``blame``, but for what is right when the same is asked again: a fault now and then.

    Args:
        trial: of the candidate.
        question: whose contents are in slot 0 of ``ring``.
        ring: what the wrong call used.
        blame: names what is wrong again.
    """

    def named(finding: Finding) -> Finding:
        pattern = ring.poisons[0]
        if finding.outcome not in WRONG or _asked(trial, question, ring, [0], pattern):
            return blame(finding)
        reason = f"wrong once, and right when asked again: {finding.reason}"
        return Finding(Outcome.NONDETERMINISTIC, reason, finding.evidence)

    return named


def _asked(
    trial: Trial, question: Question, ring: Ring, order: list[int], pattern: int
) -> Finding | None:
    """What is wrong with the outputs of the last call of ``order``; None: nothing."""
    for slot in set(order):
        ring.poison(slot, pattern)
    trial.worker.run(order, trial.deadline)
    last = order[-1]
    beside = map(ring.trespass, dict.fromkeys(order))
    if found := next(filter(None, beside), None) or trial.worker.left_behind():
        raise Rejected(located(found, question.case))
    for name in question.compared:
        got = ring.output(last, name)
        heard = hear(trial.answers, question, name, got, trial.task.tolerance, pattern)
        if finding := heard.compared.finding:
            return late(heard, ring.output(last, name), trial.task.tolerance) or finding
    return None


def _named(
    trial: Trial,
    question: Question,
    ring: Ring,
    order: list[int],
    wrong: Finding,
    blame: Callable[[Finding], Finding],
) -> Finding:
    """The outcome of a wrong row, by what alone and further rows answer."""
    pattern = ring.poisons[order[-1]]  # the same: a careful one may tell by it
    if _asked(trial, question, ring, order[-1:], pattern):
        reason = f"right when it was first asked, wrong since: {wrong.reason}"
        return Finding(Outcome.STALE_OR_CACHED_OUTPUT, reason, wrong.evidence)
    calls = len(order)
    right = [_asked(trial, question, ring, order, pattern) for _ in range(AGAIN)].count(None)
    if right:
        reason = f"wrong in one row of {calls} calls, right in {right} of {AGAIN} alike ones"
        return Finding(Outcome.NONDETERMINISTIC, f"{reason}: {wrong.reason}", wrong.evidence)
    reason = f"right alone, but not in a row of {calls} calls: {wrong.reason}"
    return blame(Finding(wrong.outcome, reason, wrong.evidence))
