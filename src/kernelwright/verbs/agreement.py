"""Whether what was stored and what was found anew say the same, baseline by baseline."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel

from kernelwright.records.evaluation import Evaluation
from kernelwright.records.measurement import Comparison
from kernelwright.report import text
from kernelwright.search.score import strongest
from kernelwright.verbs.rows import ComparisonRow

Agreement = Literal["overlap", "decision", "differs", "missing", "new"]
WORDS: dict[Agreement, str] = {
    "overlap": "intervals overlap",
    "decision": "the same decision",
    "differs": "DIFFERS",
    "missing": "not here now",
    "new": "not there then",
}


class AgreementRow(BaseModel):
    """Against one baseline on one workload, then and now."""

    baseline: str
    workload: str
    stored: ComparisonRow | None
    fresh: ComparisonRow | None
    agreement: Agreement


def agreements(then: Sequence[Comparison], now: Sequence[Comparison]) -> tuple[AgreementRow, ...]:
    """Every comparison of both, those of then first."""
    before = {(one.baseline, one.workload): one for one in then}
    after = {(one.baseline, one.workload): one for one in now}
    return tuple(
        AgreementRow(
            baseline=key[0],
            workload=key[1],
            stored=ComparisonRow.of(before[key]) if key in before else None,
            fresh=ComparisonRow.of(after[key]) if key in after else None,
            agreement=_agreement(before.get(key), after.get(key)),
        )
        for key in before | after
    )


def differences(
    then: Evaluation, now: Evaluation | None, rows: Sequence[AgreementRow]
) -> Iterator[str]:
    """What does not hold, a sentence each."""
    if now is None:
        yield "the stored source, or its values, are not what the candidate's id says"
        return
    if not now.passed:
        yield f"it passed then; now it ends as {now.outcome.value}: {now.reason}"
        return
    for one in rows:
        if one.agreement == "differs":
            yield (
                f"against {one.baseline} on {one.workload}: "
                f"{shown(one.stored)} then, {shown(one.fresh)} now"
            )
    gone = {one.baseline for one in rows if one.agreement == "missing"}
    for name in gone & {one.baseline for one in strongest(then)}:
        why = now.evidence.get("missing_baselines", {}).get(name, "it was not timed")
        yield f"{name}, the strongest baseline then, cannot be had here: {why}"


def _agreement(then: Comparison | None, now: Comparison | None) -> Agreement:
    if then is None:
        return "new"
    if now is None:
        return "missing"
    if then.low <= now.high and now.low <= then.high:
        return "overlap"
    return "decision" if then.decision == now.decision else "differs"


def shown(one: ComparisonRow | None) -> str:
    """A ratio with its interval and what was decided; a dash where there is none."""
    return f"{text.ratio(one.ratio, one.low, one.high)} {one.decision.upper()}" if one else "-"
