"""The one object that writes: created by the search, or by a one-shot verb, never elsewhere.

Refuses a post without the evaluation that proves it, and a run that a living process works on.
A commit is one transaction; when it fails (disk full, file gone) what was committed before stays
and the run can be resumed.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from json import dumps
from typing import Any

from sqlalchemy import Connection, Table, delete, func, insert, select, update

from kernelwright.errors import StoreError, UsageError
from kernelwright.records.candidate import Candidate
from kernelwright.records.post import Post
from kernelwright.records.run import Run
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.task import Task
from kernelwright.store import leases, location, schema
from kernelwright.store.sealed import seal
from kernelwright.store.step import Claim, Event, Step, StoredEvaluation, content_hash
from kernelwright.store.store import Store


class Writer:
    """Writes the steps of one run after another; keeps a lease on the run it works on."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._owner = leases.me()
        self._sources: set[str] = set()
        self._next: dict[tuple[str, str], int] = {}

    def put_task(self, task: Task) -> str:
        """Keep a task; its content hash."""
        digest = content_hash(task)
        row = {"hash": digest, "name": task.name, "json": task.to_json()}
        with self._writing() as connection:
            schema.insert_once(connection, schema.tasks, [row])
        return digest

    def put_sensitivity(self, digest: str, found: Sensitivity) -> None:
        """Keep what was seen of the task of that content hash; replaces what was known."""
        table = schema.sensitivities
        old = (table.c.task == digest, table.c.version == found.version)
        row = {"task": digest, "version": found.version, "json": found.to_json()}
        with self._writing() as connection:
            table.create(connection, checkfirst=True)
            connection.execute(delete(table).where(*old))
            schema.insert_once(connection, table, [row])

    def create_run(self, run: Run, candidates: Sequence[Candidate] = ()) -> None:
        """Keep a new run with the user's own candidates, owned by this process."""
        row = {
            "id": run.id,
            "task": run.spec.task,
            "status": run.status,
            "created": run.created,
            "json": seal(run.to_json(), run.id),
            **self._lease(),
        }
        with self._writing() as connection:
            connection.execute(insert(schema.runs).values(row))
            self._candidates(connection, run.id, candidates)

    def take(self, run_id: str) -> None:
        """Become the owner of a run.

        Raises:
            UsageError: a living process works on it.
        """
        with self._writing() as connection:
            query = select(schema.runs.c.owner, schema.runs.c.lease_until)
            row = connection.execute(query.where(schema.runs.c.id == run_id)).one()
            if leases.alive(row.owner, row.lease_until):
                host, pid, _ = row.owner.rsplit(":", 2)
                raise UsageError(
                    f"run {run_id} is being worked on by process {pid} on {host}",
                    hint="wait for it, or stop it first",
                )
            change = update(schema.runs).where(schema.runs.c.id == run_id)
            connection.execute(change.values(self._lease()))

    def commit(self, run: Run, step: Step, *, release: bool = False) -> None:
        """Write one step and the run's new state, all or nothing.

        Args:
            run: its present status and cost.
            step: what happened since the last commit.
            release: give up the run; nobody works on it any more.

        Raises:
            StoreError: not written; a post named an evaluation that does not exist.
        """
        runs = schema.runs
        change = update(runs).where(runs.c.id == run.id, runs.c.owner == self._owner)
        lease = {"owner": "", "lease_until": 0.0} if release else self._lease()
        try:
            with self._writing() as connection:
                self._candidates(connection, run.id, step.candidates)
                _insert(connection, schema.claims, self._claims(run.id, step.claims))
                _insert(connection, schema.evaluations, _evaluations(run.id, step.evaluations))
                self._posts(connection, run.id, step.posts)
                self._events(connection, run.id, step.events)
                text = seal(run.to_json(), run.id)
                state = {"status": run.status, "json": text, **lease}
                if connection.execute(change.values(state)).rowcount != 1:
                    raise StoreError(
                        f"run {run.id} was taken over by another process while this one waited",
                        hint="let that one go on; nothing of it is lost",
                    )
        except BaseException:
            # Positions were handed out for rows that were rolled back.
            self._next.clear()
            self._sources.clear()
            raise

    def holds(self, run_id: str) -> bool:
        """Whether the run is still this process's."""
        return self.store.owner(run_id)[0] == self._owner

    def release(self, run_id: str) -> None:
        """Give a run up, however far it came; nothing happens if it is not this process's.

        Used on the way out of whatever went wrong, so that a store which cannot be written
        changes nothing: a dead process holds no run anyway.
        """
        runs = schema.runs
        change = update(runs).where(runs.c.id == run_id, runs.c.owner == self._owner)
        with suppress(StoreError), self._writing() as connection:
            connection.execute(change.values(owner="", lease_until=0.0))

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        engine = self.store.engine.execution_options(**{schema.WRITES: True})
        with location.explained(self.store.url), engine.begin() as connection:
            yield connection

    def _lease(self) -> dict[str, Any]:
        return {"owner": self._owner, "lease_until": time.time() + leases.LEASE_S}

    def _candidates(
        self, connection: Connection, run_id: str, candidates: Iterable[Candidate]
    ) -> None:
        texts, rows = {}, []
        for candidate in candidates:
            digest = sha256(candidate.source.encode()).hexdigest()
            texts[digest] = candidate.source
            position = self._position(connection, schema.candidates, "position", run_id)
            told = candidate.model_dump_json(exclude={"source"})
            rows.append(
                {
                    "run": run_id,
                    "id": candidate.id,
                    "position": position,
                    "fingerprint": candidate.fingerprint,
                    "source": digest,
                    "json": seal(told, run_id, candidate.id, position),
                }
            )
        new = [{"hash": key, "text": text} for key, text in texts.items()]
        new = [row for row in new if row["hash"] not in self._sources]
        schema.insert_once(connection, schema.sources, new)
        self._sources.update(texts)
        _insert(connection, schema.candidates, rows)

    def _claims(self, run_id: str, claims: Iterable[Claim]) -> list[dict[str, Any]]:
        return [
            {
                "run": run_id,
                "number": claim.number,
                "candidate": claim.candidate,
                "rung": int(claim.rung),
                "lease": self._owner,
                "reserved_s": claim.reserved_s,
            }
            for claim in claims
        ]

    def _posts(self, connection: Connection, run_id: str, posts: Iterable[Post]) -> None:
        table = schema.evaluations
        rows = []
        for post in posts:
            query = select(table.c.number).where(
                table.c.run == run_id, table.c.number == post.evaluation
            )
            if connection.scalar(query) is None:
                raise StoreError(
                    f"a post names evaluation {post.evaluation}, which run {run_id} does not have"
                )
            position = self._position(connection, schema.posts, "position", run_id)
            rows.append(
                {
                    "run": run_id,
                    "position": position,
                    "evaluation": post.evaluation,
                    "json": seal(post.to_json(), run_id, position),
                }
            )
        _insert(connection, schema.posts, rows)

    def _events(self, connection: Connection, run_id: str, events: Iterable[Event]) -> None:
        rows = []
        for event in events:
            sequence = self._position(connection, schema.events, "sequence", run_id)
            text = seal(dumps(event.data, sort_keys=True), run_id, sequence, event.kind)
            rows.append({"run": run_id, "sequence": sequence, "kind": event.kind, "json": text})
        _insert(connection, schema.events, rows)

    def _position(self, connection: Connection, table: Table, column: str, run_id: str) -> int:
        key = (table.name, run_id)
        if key not in self._next:
            highest = select(func.max(table.c[column])).where(table.c.run == run_id)
            self._next[key] = int(connection.scalar(highest) or 0) + 1
        self._next[key] += 1
        return self._next[key] - 1


def _evaluations(run_id: str, found: Iterable[StoredEvaluation]) -> list[dict[str, Any]]:
    return [
        {
            "run": run_id,
            "number": stored.number,
            "candidate": stored.evaluation.candidate,
            "rung": int(stored.evaluation.rung),
            "outcome": stored.evaluation.outcome.value,
            "binary": stored.evaluation.build.binary if stored.evaluation.build else "",
            "json": seal(
                stored.evaluation.to_json(),
                *(run_id, stored.number, stored.sequence, stored.wall_s, stored.device_s),
            ),
            "sequence": stored.sequence,
            "wall_s": stored.wall_s,
            "device_s": stored.device_s,
        }
        for stored in found
    ]


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)
