"""Rows of the database as records; a row that makes none is named, with what can be done.

Whatever is wrong with a row stays with its run: nothing here keeps another run from being read.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from json import loads
from typing import Any

from sqlalchemy import Select, select

from kernelwright.errors import StoreError
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.post import Post
from kernelwright.records.run import Run
from kernelwright.records.rung import Rung
from kernelwright.records.task import Task
from kernelwright.store import schema
from kernelwright.store.sealed import unsealed
from kernelwright.store.step import Claim, Event, StoredEvaluation

RUNS = select(schema.runs).order_by(schema.runs.c.created.desc(), schema.runs.c.id.desc())
"""Every run, newest first."""
HINT = "bring the store back from a copy, or leave this run and start another: the others are sound"


def candidates_of(run_id: str) -> Select[tuple[Any, ...]]:
    """The candidates of a run with their sources."""
    table, sources = schema.candidates, schema.sources
    joined = table.join(sources, table.c.source == sources.c.hash)
    return select(table, sources.c.text).select_from(joined).where(table.c.run == run_id)


@contextmanager
def readable(what: str) -> Iterator[None]:
    """Name what is read, if it cannot be.

    Args:
        what: the row, for people: ``evaluation 7 of run …``.

    Raises:
        StoreError: the body met something that is not what was written.
    """
    try:
        yield
    except (
        ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError
    ) as problem:  # fmt: skip
        lines = str(problem).strip().splitlines() or [type(problem).__name__]
        reason = f"no {lines[0]}" if isinstance(problem, KeyError) else " ".join(lines[:2])
        raise StoreError(f"{what} is damaged: {reason[:200]}", hint=HINT) from problem


def run(row: Any) -> Run:
    """A run; raises StoreError naming it, as all of these do."""
    with readable(f"run {row.id}"):
        found = Run.model_validate_json(unsealed(row.json, row.id))
        _same(found.id, row.id, "id")
        _same(found.status, row.status, "status")
    return found


def task(digest: str, text: str) -> Task:
    """A task, which is named by its content."""
    with readable(f"task {digest[:16]}"):
        _same(sha256(text.encode()).hexdigest(), digest, "hash")
        return Task.model_validate_json(text)


def candidate(row: Any) -> Candidate:
    """A candidate with its source."""
    with readable(f"candidate {row.id} of run {row.run}"):
        _same(sha256(row.text.encode()).hexdigest(), row.source, "source")
        data = loads(unsealed(row.json, row.run, row.id, row.position))
        found = Candidate.model_validate(data | {"source": row.text})
        _same(found.id, row.id, "id")
    return found


def claim(row: Any) -> Claim:
    """A claim."""
    with readable(f"claim {row.number} of run {row.run}"):
        return Claim(int(row.number), str(row.candidate), Rung(row.rung), float(row.reserved_s))


def evaluation(row: Any) -> StoredEvaluation:
    """An evaluation with its place in the run."""
    with readable(f"evaluation {row.number} of run {row.run}"):
        beside = (row.run, row.number, row.sequence, row.wall_s, row.device_s)
        found = Evaluation.model_validate_json(unsealed(row.json, *beside))
        _same(found.candidate, row.candidate, "candidate")
        _same(int(found.rung), row.rung, "rung")
        _same(found.outcome.value, row.outcome, "outcome")
    return StoredEvaluation(row.number, row.sequence, found, row.wall_s, row.device_s)


def post(row: Any) -> Post:
    """A post."""
    with readable(f"post {row.position} of run {row.run}"):
        return Post.model_validate_json(unsealed(row.json, row.run, row.position))


def event(row: Any) -> Event:
    """An event."""
    with readable(f"event {row.sequence} of run {row.run}"):
        data = loads(unsealed(row.json, row.run, row.sequence, row.kind))
        if not isinstance(data, dict):
            raise TypeError("no JSON object")
        return Event(str(row.kind), data)


def whole(found: list[StoredEvaluation], run_id: str) -> list[StoredEvaluation]:
    """Every evaluation of a run, none missing in between.

    Raises:
        StoreError: one is missing.
    """
    for place, stored in enumerate(found, start=1):
        if stored.sequence != place:
            raise StoreError(
                f"the evaluation that ended as number {place} in run {run_id} is missing", hint=HINT
            )
    return found


def _same(told: object, stored: object, what: str) -> None:
    if told != stored:
        raise ValueError(f"its {what} is {told} here and {stored} there")
