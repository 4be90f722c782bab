"""The stages of correctness, cheapest first; each raises at its first finding.

Smoke: the smallest workload, with inputs that can be written and then with inputs that cannot, as
when they are timed; in all stages after the declared ones they cannot. Declared: every workload
that will be timed. Stability: hostile values, small integers among them, on which exact answers
must be met exactly. Repeats: the same call again and again. Edges and hidden: other shapes. Timed
stability and timed repeats: a few of those questions at the size that is timed.
"""

import hashlib
from collections.abc import Callable, Iterable

import numpy as np

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation import stability
from kernelwright.evaluation.arena import Array
from kernelwright.evaluation.cases import Cases
from kernelwright.evaluation.hearing import hear
from kernelwright.evaluation.ring import POISONS, Rings
from kernelwright.evaluation.trial import WRONG, Trial
from kernelwright.records.outcome import Outcome
from kernelwright.records.rung import Stage
from kernelwright.records.task import Case

REPEATS = 40
TIMED_REPEATS = 5


def run(stage: Stage, trial: Trial, cases: Cases, rings: Rings) -> None:
    """Run one stage.

    Raises:
        Rejected: the candidate failed it.
    """
    with trial.check(stage):
        _STAGES[stage](trial, cases, rings)


def _smoke(trial: Trial, cases: Cases, rings: Rings) -> None:
    _declared_one(trial, cases.smoke, rings)
    trial.correct(trial.answers.base(cases.smoke), ring=rings(cases.smoke, sealed=True))


def _declared(trial: Trial, cases: Cases, rings: Rings) -> None:
    for case in cases.timed:
        if case.workload != cases.smoke.workload:
            _declared_one(trial, case, rings)


def _declared_one(trial: Trial, case: Case, rings: Rings) -> None:
    trial.correct(trial.answers.base(case), ring=rings(case))
    with trial.where_defined(f"{case.workload}, touched"):
        trial.correct(trial.answers.touched(case), ring=rings(case), blame=_remembered)


def _remembered(finding: Finding) -> Finding:
    """Wrong once inputs had changed, on which it was right a call before."""
    if finding.outcome not in WRONG:
        return finding
    reason = f"right, and wrong when inputs had changed: {finding.reason}"
    return Finding(Outcome.STALE_OR_CACHED_OUTPUT, reason, finding.evidence)


def _repeats(trial: Trial, cases: Cases, rings: Rings) -> None:
    distinct = _repeated(trial, cases.smoke, rings, REPEATS)
    trial.labels["distinct_results_in_40_repeats"] = distinct


def _timed_repeats(trial: Trial, cases: Cases, rings: Rings) -> None:
    if cases.timed[0].workload != cases.smoke.workload:
        distinct = _repeated(trial, cases.timed[0], rings, TIMED_REPEATS)
        trial.labels["distinct_results_in_timed_repeats"] = distinct


def _repeated(trial: Trial, case: Case, rings: Rings, repeats: int) -> int:
    """How many different results so many alike calls have; each is compared, unless undecided.

    Raises:
        Rejected: one is wrong, or there are several where the task asks for one.
    """
    ring, question = rings(case, sealed=True), trial.answers.base(case)
    ring.inputs.fill(question.contents)
    seen: set[bytes] = set()
    for number in range(repeats):
        pattern = POISONS[number % 2]
        ring.inputs.sets.surround()
        trial.again(ring, pattern)
        outputs = {item.name: ring.output(0, item.name) for item in case.outputs}
        bits = _digest(outputs.values())
        if bits in seen:
            continue
        seen.add(bits)
        for name in question.compared:
            got = outputs[name]
            heard = hear(trial.answers, question, name, got, trial.task.tolerance, pattern)
            if finding := heard.compared.finding:
                reason = f"call {number + 1} of {repeats} alike ones was wrong: {finding.reason}"
                raise Rejected(Finding(Outcome.NONDETERMINISTIC, reason, finding.evidence))
    if len(seen) > 1 and trial.task.determinism == "bitwise":
        reason = f"{len(seen)} different results in {repeats} calls; the task asks for one"
        raise Rejected(Finding(Outcome.NONDETERMINISTIC, reason, {"distinct": len(seen)}))
    return len(seen)


def _digest(outputs: Iterable[Array]) -> bytes:
    total = hashlib.blake2b(digest_size=16)
    for output in outputs:
        total.update(np.ascontiguousarray(output).tobytes())
    return total.digest()


def _edges(trial: Trial, cases: Cases, rings: Rings) -> None:
    _other_shapes(trial, cases.edge)


def _hidden(trial: Trial, cases: Cases, rings: Rings) -> None:
    _other_shapes(trial, cases.hidden)


def _other_shapes(trial: Trial, cases: list[Case]) -> None:
    for case in cases:
        with trial.where_defined(case.note or case.workload):
            trial.correct(trial.answers.shape(case), blame=_edge)


def _edge(finding: Finding) -> Finding:
    if finding.outcome not in WRONG:
        return finding
    return Finding(Outcome.EDGE_CASE_FAILED, finding.reason, finding.evidence)


_STAGES: dict[Stage, Callable[[Trial, Cases, Rings], None]] = {
    "smoke": _smoke,
    "declared": _declared,
    "stability": stability.small,
    "repeats": _repeats,
    "edges": _edges,
    "timed_stability": stability.timed,
    "timed_repeats": _timed_repeats,
    "hidden": _hidden,
}
