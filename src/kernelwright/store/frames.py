"""A run as a table: one row an evaluation; pandas is imported when it is asked for."""

from typing import TYPE_CHECKING, Any

from kernelwright.records.candidate import Candidate
from kernelwright.store.rows import readable
from kernelwright.store.step import StoredEvaluation
from kernelwright.store.store import Store

if TYPE_CHECKING:
    import pandas as pd


def rows(store: Store, run_id: str) -> list[dict[str, Any]]:
    """Flat rows: an evaluation's fields, ``tune.NAME`` columns, ``<workload>.<what>`` columns.

    Times are in microseconds; ``ratio``, ``low``, ``high`` and ``decision`` are against the
    baseline named in ``<workload>.baseline`` (the first compared with).
    """
    run = store.run(run_id)
    candidates = {candidate.id: candidate for candidate in store.candidates(run.id)}
    return [_row(run.id, candidates, stored) for stored in store.evaluations(run.id)]


def to_frame(store: Store, run_id: str) -> "pd.DataFrame":
    """:func:`rows` as a data frame.

    Raises:
        UsageError: no such run.
    """
    import pandas as pd

    return pd.DataFrame.from_records(rows(store, run_id))


def _row(run_id: str, candidates: dict[str, Candidate], stored: StoredEvaluation) -> dict[str, Any]:
    evaluation = stored.evaluation
    with readable(f"candidate {evaluation.candidate} of run {run_id}"):
        candidate = candidates[evaluation.candidate]
    row: dict[str, Any] = {
        "run": run_id,
        "number": stored.number,
        "sequence": stored.sequence,
        "candidate": candidate.id,
        "language": candidate.language,
        "strategy": candidate.strategy,
        "author": candidate.author,
        "parent": candidate.parents[0] if candidate.parents else "",
        "rung": evaluation.rung.word,
        "outcome": evaluation.outcome.value,
        "reason": evaluation.reason,
        "copied_from": evaluation.copied_from,
        "seconds": evaluation.seconds,
        "device_seconds": evaluation.device_seconds,
        "run_wall_s": stored.wall_s,
        "run_device_s": stored.device_s,
        "binary": evaluation.build.binary if evaluation.build else "",
        "floor_us": evaluation.roofline.floor_us if evaluation.roofline else None,
        "roofline_fraction": evaluation.roofline.fraction if evaluation.roofline else None,
        "bottleneck": evaluation.diagnosis.bottleneck if evaluation.diagnosis else "",
    }
    row |= {f"tune.{name}": value for name, value in candidate.tunables.items()}
    for measurement in evaluation.measurements:
        times = measurement.time_us
        row[f"{measurement.workload}.median_us"] = times.median
        row[f"{measurement.workload}.p20_us"] = times.p20
        row[f"{measurement.workload}.p80_us"] = times.p80
        row[f"{measurement.workload}.min_us"] = times.min
    for comparison in reversed(evaluation.comparisons):
        name = comparison.workload
        row[f"{name}.baseline"] = comparison.baseline
        row[f"{name}.ratio"] = comparison.ratio
        row[f"{name}.low"] = comparison.low
        row[f"{name}.high"] = comparison.high
        row[f"{name}.decision"] = comparison.decision.value
    return row
