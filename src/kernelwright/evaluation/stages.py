"""The stages of correctness, cheapest first; each raises at its first finding.

Smoke: one call on the smallest workload. Declared: every workload that will be timed. Stability:
hostile values, small integers among them, on which exact answers must be met exactly. Repeats:
the same call again and again. Edges and hidden: other shapes.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from kernelwright.checks.correctness import judge
from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.arena import Array
from kernelwright.evaluation.cases import Cases
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.evaluation.ring import POISONS, Ring
from kernelwright.evaluation.trial import Trial
from kernelwright.records.outcome import Outcome
from kernelwright.records.rung import Stage
from kernelwright.records.task import Case
from kernelwright.tasks import hostile

REPEATS = 40
Rings = Callable[[Case], Ring]


def run(stage: Stage, trial: Trial, cases: Cases, rings: Rings) -> None:
    """Run one stage.

    Raises:
        Rejected: the candidate failed it.
    """
    with trial.check(stage):
        _STAGES[stage](trial, cases, rings)


def _smoke(trial: Trial, cases: Cases, rings: Rings) -> None:
    _declared_one(trial, cases.smoke, rings)


def _declared(trial: Trial, cases: Cases, rings: Rings) -> None:
    for case in cases.timed:
        if case.workload != cases.smoke.workload:
            _declared_one(trial, case, rings)


def _declared_one(trial: Trial, case: Case, rings: Rings) -> None:
    trial.correct(trial.answers.base(case), ring=rings(case))


def _stability(trial: Trial, cases: Cases, rings: Rings) -> None:
    case = cases.smoke
    for kind in hostile.kinds(case):
        with _where_defined(trial, f"hostile {kind}"):
            question = trial.answers.hostile(case, kind)
            blame = _same if kind == hostile.INTEGERS else _unstable
            trial.correct(question, ring=rings(case), blame=blame)


def _same(finding: Finding) -> Finding:
    return finding


def _unstable(finding: Finding) -> Finding:
    if finding.outcome is not Outcome.WRONG_VALUES and finding.outcome is not Outcome.NOT_FINITE:
        return finding
    return Finding(Outcome.NUMERICALLY_UNSTABLE, finding.reason, finding.evidence)


def _repeats(trial: Trial, cases: Cases, rings: Rings) -> None:
    case = cases.smoke
    ring, question = rings(case), trial.answers.base(case)
    answers = question.answers
    ring.inputs.fill(question.contents)
    seen: set[bytes] = set()
    for number in range(REPEATS):
        pattern = POISONS[number % 2]
        trial.again(ring, pattern)
        outputs = [ring.output(0, answer.name) for answer in answers]
        bits = _digest(outputs)
        if bits in seen:
            continue
        seen.add(bits)
        for answer, got in zip(answers, outputs, strict=True):
            if finding := judge(got, answer, trial.task.tolerance, pattern):
                reason = f"call {number + 1} of {REPEATS} alike ones was wrong: {finding.reason}"
                raise Rejected(Finding(Outcome.NONDETERMINISTIC, reason, finding.evidence))
    trial.labels["distinct_results_in_40_repeats"] = len(seen)
    if len(seen) > 1 and trial.task.determinism == "bitwise":
        reason = f"{len(seen)} different results in {REPEATS} calls; the task asks for one"
        raise Rejected(Finding(Outcome.NONDETERMINISTIC, reason, {"distinct": len(seen)}))


def _digest(outputs: list[Array]) -> bytes:
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
        with _where_defined(trial, case.note or case.workload):
            trial.correct(trial.answers.shape(case), blame=_edge)


@contextmanager
def _where_defined(trial: Trial, name: str) -> Iterator[None]:
    """Skip a case on which the reference itself fails; the verdict names it."""
    try:
        yield
    except ReferenceFailure as failure:
        skipped = trial.labels.setdefault("reference_undefined", {})
        skipped[name] = failure.reason


def _edge(finding: Finding) -> Finding:
    if finding.outcome is not Outcome.WRONG_VALUES and finding.outcome is not Outcome.NOT_FINITE:
        return finding
    return Finding(Outcome.EDGE_CASE_FAILED, finding.reason, finding.evidence)


_STAGES: dict[Stage, Callable[[Trial, Cases, Rings], None]] = {
    "smoke": _smoke,
    "declared": _declared,
    "stability": _stability,
    "repeats": _repeats,
    "edges": _edges,
    "hidden": _hidden,
}
