"""Read what is stored; writing is :mod:`kernelwright.store.writer`'s business.

Anybody may read a store while a search writes to it. This module refuses to change a record.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from json import loads
from pathlib import Path

from sqlalchemy import URL, Connection, Row, Select, create_engine, inspect, select

from kernelwright.errors import PrerequisiteError, StoreError, UsageError
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.post import Post
from kernelwright.records.run import Run
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import VERSION, Sensitivity
from kernelwright.records.task import Task
from kernelwright.store import location, schema
from kernelwright.store.artifacts import Artifacts
from kernelwright.store.location import default_url
from kernelwright.store.step import Claim, Event, StoredEvaluation, content_hash

__all__ = ["Store", "StoredEvaluation", "content_hash", "default_url"]


class Store:
    """One store, opened for reading."""

    home: Path
    """Folder beside the store, for artifacts and run folders."""

    def __init__(self, url: URL) -> None:
        self.url = url
        file = location.file_of(url)
        self.home = file.parent if file else location.default_home()
        self.keeps_files = file is not None or url.get_backend_name() != "sqlite"
        """False in memory: nothing is written beside it."""
        try:
            self.engine = create_engine(url)
        except ModuleNotFoundError as problem:
            raise PrerequisiteError(
                f"a store at {url.drivername} needs the package {problem.name!r}",
                hint="pip install 'kernelwright[postgres]'",
            ) from problem
        schema.prepare(self.engine)
        self.artifacts = Artifacts(self.home / "artifacts")

    @classmethod
    def open(cls, url: str | None = None) -> "Store":
        """Open or create the store at ``url`` (a URL or a file; default :func:`default_url`).

        Raises:
            StoreError: it is no store, a newer one, or cannot be read or written.
            PrerequisiteError: the database's driver is not installed.
        """
        where = location.parse(url)
        with location.explained(where):
            file = location.file_of(where)
            if file and "mode=ro" not in str(where):
                file.parent.mkdir(parents=True, exist_ok=True)
            store = cls(where)
            try:
                schema.create_or_check(store.engine)
            except BaseException:
                store.close()
                raise
        return store

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection with one consistent view; failures become StoreError."""
        with location.explained(self.url), self.engine.connect() as connection:
            yield connection

    def runs(self) -> Sequence[Run]:
        """Every run, newest first."""
        query = select(schema.runs.c.json).order_by(
            schema.runs.c.created.desc(), schema.runs.c.id.desc()
        )
        with self.reading() as connection:
            return [Run.model_validate_json(text) for text in connection.scalars(query)]

    def run(self, run_id: str) -> Run:
        """One run, by id, unambiguous beginning of an id, or ``latest``.

        Raises:
            UsageError: no such run, or several.
        """
        table = schema.runs
        query = select(table.c.json).order_by(table.c.created.desc(), table.c.id.desc()).limit(2)
        if run_id != "latest":
            query = query.where(table.c.id.startswith(run_id, autoescape=True))
        with self.reading() as connection:
            found = [Run.model_validate_json(text) for text in connection.scalars(query)]
        exact = [run for run in found if run.id == run_id]
        if exact or (found and run_id == "latest"):
            return (exact or found)[0]
        if len(found) == 1 and run_id:
            return found[0]
        what = "matches several runs" if found else "is not a run in this store"
        raise UsageError(f"{run_id!r} {what}", hint="kernelwright runs list shows them")

    def owner(self, run_id: str) -> tuple[str, float]:
        """Who works on a run, and until when that is believed without a sign of life."""
        query = select(schema.runs.c.owner, schema.runs.c.lease_until)
        with self.reading() as connection:
            row = connection.execute(query.where(schema.runs.c.id == run_id)).one()
        return row.owner, row.lease_until

    def task(self, digest: str) -> Task:
        """The task of that content hash.

        Raises:
            UsageError: it is not stored.
        """
        query = select(schema.tasks.c.json).where(schema.tasks.c.hash == digest)
        with self.reading() as connection:
            text = connection.scalar(query)
        if text is None:
            raise UsageError(f"the task {digest[:16]} is not in this store")
        return Task.model_validate_json(text)

    def sensitivity(self, digest: str) -> Sensitivity | None:
        """What was seen of the task of that content hash by today's controls, or None."""
        table = schema.sensitivities
        query = select(table.c.json).where(table.c.task == digest, table.c.version == VERSION)
        with self.reading() as connection:
            if not inspect(connection).has_table(table.name):
                return None
            text = connection.scalar(query)
        return None if text is None else Sensitivity.model_validate_json(text)

    def candidate(self, run_id: str, candidate_id: str) -> Candidate:
        """One candidate of a run.

        Raises:
            UsageError: there is no such candidate.
        """
        query = _candidates(run_id).where(schema.candidates.c.id == candidate_id)
        with self.reading() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise UsageError(f"{candidate_id!r} is not a candidate of run {run_id}")
        return _candidate(row)

    def candidates(self, run_id: str) -> Sequence[Candidate]:
        """Every candidate of a run in the order in which they were proposed."""
        query = _candidates(run_id).order_by(schema.candidates.c.position)
        with self.reading() as connection:
            return [_candidate(row) for row in connection.execute(query)]

    def claims(self, run_id: str) -> Sequence[Claim]:
        """Every claim of a run in the order of dispatch."""
        table = schema.claims
        query = select(table).where(table.c.run == run_id).order_by(table.c.number)
        with self.reading() as connection:
            return [
                Claim(row.number, row.candidate, Rung(row.rung), row.reserved_s)
                for row in connection.execute(query)
            ]

    def evaluations(
        self, run_id: str, candidate_id: str = "", rung: Rung | None = None
    ) -> Sequence[StoredEvaluation]:
        """Evaluations of a run in order of completion."""
        table = schema.evaluations
        query = select(table).where(table.c.run == run_id).order_by(table.c.sequence)
        if candidate_id:
            query = query.where(table.c.candidate == candidate_id)
        if rung is not None:
            query = query.where(table.c.rung == int(rung))
        with self.reading() as connection:
            return [_evaluation(row) for row in connection.execute(query)]

    def posts(self, run_id: str) -> Sequence[Post]:
        """The board of a run, oldest first."""
        table = schema.posts
        query = select(table.c.json).where(table.c.run == run_id).order_by(table.c.position)
        with self.reading() as connection:
            return [Post.model_validate_json(text) for text in connection.scalars(query)]

    def events(self, run_id: str, kind: str = "") -> Sequence[Event]:
        """Events of a run, oldest first."""
        table = schema.events
        query = select(table).where(table.c.run == run_id).order_by(table.c.sequence)
        if kind:
            query = query.where(table.c.kind == kind)
        with self.reading() as connection:
            return [Event(row.kind, loads(row.json)) for row in connection.execute(query)]

    def run_folder(self, run_id: str) -> Path:
        """``<home>/runs/<run-id>``; may not exist yet."""
        return self.home / "runs" / run_id

    def close(self) -> None:
        """Release the connections."""
        self.engine.dispose()


def _candidates(run_id: str) -> Select[tuple[str, str]]:
    table = schema.candidates
    joined = table.join(schema.sources, table.c.source == schema.sources.c.hash)
    return (
        select(table.c.json, schema.sources.c.text).select_from(joined).where(table.c.run == run_id)
    )


def _candidate(row: Row[tuple[str, str]]) -> Candidate:
    return Candidate.model_validate(loads(row.json) | {"source": row.text})


def _evaluation(row: Row[tuple[object, ...]]) -> StoredEvaluation:
    try:
        evaluation = Evaluation.model_validate_json(row.json)
    except ValueError as problem:
        raise StoreError(f"evaluation {row.number} of run {row.run} is damaged") from problem
    return StoredEvaluation(row.number, row.sequence, evaluation, row.wall_s, row.device_s)
