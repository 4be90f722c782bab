"""Read what is stored; writing is :mod:`kernelwright.store.writer`'s business.

Anybody may read a store while a search writes to it, and one that cannot be written. This module
refuses to change a record, and to pass one on that is not what was written.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, create_engine, inspect, make_url, select
from sqlalchemy.exc import OperationalError

from kernelwright.errors import PrerequisiteError, StoreError, UsageError
from kernelwright.extras import how_to_add
from kernelwright.records.candidate import Candidate
from kernelwright.records.post import Post
from kernelwright.records.run import Run
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import VERSION, Sensitivity
from kernelwright.records.task import Task
from kernelwright.store import leases, location, rows, schema, unwritable
from kernelwright.store.location import default_url
from kernelwright.store.step import Claim, Event, StoredEvaluation, content_hash

LIST = "kernelwright runs list shows them"
FIRST = "kernelwright optimize softmax makes one"

__all__ = ["Store", "StoredEvaluation", "content_hash", "default_url"]
_MEMORY = make_url("sqlite://")


class Store:
    """One store, opened for reading.

    Args:
        url: where it is.
        connect: how, if not as usual.
        writable: whether somebody may write through it.
        remove: a folder that goes when it is closed.
    """

    home: Path
    """Folder beside the store, for run folders."""

    def __init__(
        self,
        url: URL,
        connect: unwritable.Connect | None = None,
        *,
        writable: bool = True,
        remove: Path | None = None,
    ) -> None:
        self.url = url
        file = location.file_of(url)
        self.home = file.parent if file else location.default_home()
        self.keeps_files = file is not None or url.get_backend_name() != "sqlite"
        """False in memory: nothing is written beside it."""
        self._remove = remove
        try:
            self.engine = create_engine(url, creator=connect) if connect else create_engine(url)
        except ModuleNotFoundError as problem:
            raise PrerequisiteError(
                f"a store at {url.drivername} needs the package {problem.name!r}",
                hint=how_to_add(problem.name or url.get_driver_name()),
            ) from problem
        schema.prepare(self.engine, writable=writable)

    @classmethod
    def open(cls, url: str | None = None, *, writable: bool = True, new: bool = True) -> "Store":
        """The store at ``url`` (a URL or a file; default :func:`default_url`).

        Args:
            url: where it is.
            writable: create what is missing, and make sure that it can be written; otherwise
                nothing is changed, and a store that is not there is an empty one.
            new: whether one may begin where none is; otherwise as if it were only read.

        Raises:
            StoreError: it is no store, a newer one, or cannot be read or written.
            PrerequisiteError: the database's driver is not installed.
        """
        where = location.parse(url)
        file = location.file_of(where)
        with location.explained(where):
            if file is not None and not (writable and unwritable.suits(file, new=new)):
                return cls._reading(where, file)
            if file and "mode=ro" not in str(where):
                file.parent.mkdir(parents=True, exist_ok=True)
            store = cls(where)
            with store._closed_on_failure():
                schema.create_or_check(store.engine)
        return store

    @property
    def place(self) -> str:
        """Where it is, for people: no password."""
        return self.url.render_as_string(hide_password=True)

    @classmethod
    def _reading(cls, where: URL, file: Path) -> "Store":
        problems: list[OperationalError] = []
        for connect, remove in unwritable.ways(file):
            store = cls(where, connect, writable=False, remove=remove)
            try:
                with store._closed_on_failure():
                    if schema.check(store.engine):
                        return store
                store.close()
                problems.clear()
                break
            except OperationalError as problem:
                problems.append(problem)
        if problems:
            raise problems[0]
        empty = cls(_MEMORY)
        schema.create_or_check(empty.engine)
        empty.url = where
        return empty

    @contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection with one consistent view; failures become StoreError."""
        with location.explained(self.url), self.engine.connect() as connection:
            yield connection

    def runs(self, *, present: bool = False) -> Sequence[Run]:
        """Every run that can be read, newest first; ``present``: see :meth:`run`."""
        return [one for one in self.all_runs(present=present).values() if isinstance(one, Run)]

    def all_runs(self, *, present: bool = False) -> Mapping[str, Run | StoreError]:
        """Every run by id, newest first; for one that cannot be read, why."""
        found: dict[str, Run | StoreError] = {}
        with self.reading() as connection:
            for row in connection.execute(rows.RUNS):
                try:
                    found[row.id] = _run(row, present=present)
                except StoreError as problem:
                    found[row.id] = problem
        return found

    def run(self, run_id: str, *, present: bool = False) -> Run:
        """One run, by id, unambiguous beginning of an id, or ``latest``.

        Args:
            run_id: which.
            present: with the status of now instead of the one that was written last: a run that
                somebody has taken up again is running, one whose process is gone is interrupted.

        Raises:
            UsageError: no such run, or several.
            StoreError: it is damaged.
        """
        query = rows.RUNS.limit(2)
        if run_id != "latest":
            query = query.where(schema.runs.c.id.startswith(run_id, autoescape=True))
        with self.reading() as connection:
            found = list(connection.execute(query))
        exact = [row for row in found if row.id == run_id]
        if exact or (found and run_id == "latest"):
            return _run((exact or found)[0], present=present)
        if len(found) == 1 and run_id:
            return _run(found[0], present=present)
        if found:
            raise UsageError(f"{run_id!r} matches several runs", hint=LIST)
        if not self.all_runs():
            what = "no runs yet" if run_id == "latest" else f"{run_id!r} is no run: there are none"
            raise UsageError(f"{what} in {self.place}", hint=FIRST)
        raise UsageError(f"{run_id!r} is not a run in this store", hint=LIST)

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
        return rows.task(digest, text)

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
        query = rows.candidates_of(run_id).where(schema.candidates.c.id == candidate_id)
        with self.reading() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise UsageError(f"{candidate_id!r} is not a candidate of run {run_id}")
        return rows.candidate(row)

    def candidates(self, run_id: str) -> Sequence[Candidate]:
        """Every candidate of a run in the order in which they were proposed."""
        query = rows.candidates_of(run_id).order_by(schema.candidates.c.position)
        with self.reading() as connection:
            return [rows.candidate(row) for row in connection.execute(query)]

    def claims(self, run_id: str) -> Sequence[Claim]:
        """Every claim of a run in the order of dispatch."""
        table = schema.claims
        query = select(table).where(table.c.run == run_id).order_by(table.c.number)
        with self.reading() as connection:
            return [rows.claim(row) for row in connection.execute(query)]

    def evaluations(
        self, run_id: str, candidate_id: str = "", rung: Rung | None = None
    ) -> Sequence[StoredEvaluation]:
        """Evaluations of a run in order of completion.

        Raises:
            StoreError: one is damaged, or, when all are asked for, missing.
        """
        table = schema.evaluations
        query = select(table).where(table.c.run == run_id).order_by(table.c.sequence)
        if candidate_id:
            query = query.where(table.c.candidate == candidate_id)
        if rung is not None:
            query = query.where(table.c.rung == int(rung))
        with self.reading() as connection:
            found = [rows.evaluation(row) for row in connection.execute(query)]
        return found if candidate_id or rung is not None else rows.whole(found, run_id)

    def posts(self, run_id: str) -> Sequence[Post]:
        """The board of a run, oldest first."""
        table = schema.posts
        query = select(table).where(table.c.run == run_id).order_by(table.c.position)
        with self.reading() as connection:
            return [rows.post(row) for row in connection.execute(query)]

    def events(self, run_id: str, kind: str = "") -> Sequence[Event]:
        """Events of a run, oldest first."""
        table = schema.events
        query = select(table).where(table.c.run == run_id).order_by(table.c.sequence)
        if kind:
            query = query.where(table.c.kind == kind)
        with self.reading() as connection:
            return [rows.event(row) for row in connection.execute(query)]

    def run_folder(self, run_id: str) -> Path:
        """``<home>/runs/<run-id>``; may not exist yet."""
        return self.home / "runs" / run_id

    def close(self) -> None:
        """Release the connections."""
        self.engine.dispose()
        if self._remove is not None:
            shutil.rmtree(self._remove, ignore_errors=True)


def _run(row: Any, *, present: bool) -> Run:
    run = rows.run(row)
    status = leases.present(run.status, row.owner, row.lease_until)
    return run.model_copy(update={"status": status}) if present else run
