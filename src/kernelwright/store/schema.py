"""The tables, and the only place that knows which database is underneath.

SQLite is the default: write-ahead log, so that a reader (a report, a live page) never stops the
search; ``synchronous=NORMAL``, because a commit in the write-ahead log is already with the
operating system when it returns: a killed process loses nothing committed, and only a power cut
may lose the last commits, never damage the file. ``FULL`` would pay a disk flush for each
candidate to guard against power cuts alone. A busy writer waits 30 s.

Refuses a store of a newer schema and a database that holds something else.
"""

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    event,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.pool import ConnectionPoolEntry

from kernelwright.errors import StoreError

VERSION = 2
"""2: rows of JSON are sealed. None of version 1 left this house."""
BUSY_MS = 30_000
WRITES = "kernelwright_writes"
"""Execution option of a connection that is going to write."""

metadata = MetaData()

meta = Table(
    "meta",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)
tasks = Table(
    "tasks",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("json", Text, nullable=False),
)
runs = Table(
    "runs",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("task", String(64), nullable=False, index=True),
    Column("status", String(30), nullable=False),
    Column("created", String(40), nullable=False),
    Column("json", Text, nullable=False),
    Column("owner", String(200), nullable=False, default=""),
    Column("lease_until", Float, nullable=False, default=0.0),
)
# A tuner's thousand candidates share one source: kept once, by hash.
sources = Table(
    "sources",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("text", Text, nullable=False),
)
candidates = Table(
    "candidates",
    metadata,
    Column("run", String(40), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("fingerprint", String(64), nullable=False, index=True),
    Column("source", String(64), nullable=False),
    Column("json", Text, nullable=False),
    ForeignKeyConstraint(["run"], ["runs.id"]),
    ForeignKeyConstraint(["source"], ["sources.hash"]),
)
claims = Table(
    "claims",
    metadata,
    Column("run", String(40), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("candidate", String(64), nullable=False),
    Column("rung", Integer, nullable=False),
    Column("lease", String(200), nullable=False),
    Column("reserved_s", Float, nullable=False),
    ForeignKeyConstraint(["run", "candidate"], ["candidates.run", "candidates.id"]),
)
evaluations = Table(
    "evaluations",
    metadata,
    Column("run", String(40), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("candidate", String(64), nullable=False),
    Column("rung", Integer, nullable=False),
    Column("outcome", String(40), nullable=False),
    Column("binary", String(64), nullable=False),
    Column("json", Text, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("wall_s", Float, nullable=False),
    Column("device_s", Float, nullable=False),
    ForeignKeyConstraint(["run", "candidate"], ["candidates.run", "candidates.id"]),
    Index("evaluations_by_sequence", "run", "sequence", unique=True),
    Index("evaluations_by_candidate", "run", "candidate", "rung"),
)
posts = Table(
    "posts",
    metadata,
    Column("run", String(40), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("evaluation", Integer, nullable=False),
    Column("json", Text, nullable=False),
    ForeignKeyConstraint(["run", "evaluation"], ["evaluations.run", "evaluations.number"]),
)
events = Table(
    "events",
    metadata,
    Column("run", String(40), primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("kind", String(40), nullable=False),
    Column("json", Text, nullable=False),
    ForeignKeyConstraint(["run"], ["runs.id"]),
)
# Created when first written: a store that is older than the table needs no other version.
sensitivities = Table(
    "sensitivities",
    metadata,
    Column("task", String(64), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("json", Text, nullable=False),
)


def prepare(engine: Engine, *, writable: bool = True) -> None:
    """Make an SQLite connection behave; other databases need nothing."""
    if engine.dialect.name != "sqlite":
        return

    @event.listens_for(engine, "connect")
    def _configure(connection: object, _entry: ConnectionPoolEntry) -> None:
        # The driver's own transactions begin too late for IMMEDIATE; we begin them ourselves.
        connection.isolation_level = None  # type: ignore[attr-defined]
        # Damaged text must be noticed where its row is known.
        connection.text_factory = _text  # type: ignore[attr-defined]
        cursor = connection.cursor()  # type: ignore[attr-defined]
        cursor.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        if writable:
            cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A reader that turns writer midway cannot wait for another writer: SQLite refuses at once.
        writes = connection.get_execution_options().get(WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def create_or_check(engine: Engine) -> None:
    """Create the tables of an empty database, or check that these are ours and can be written.

    Raises:
        StoreError: another schema, or tables of something else.
    """
    if _version(engine) is None:
        with engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
            # Another process may have created them while this one waited for its turn.
            metadata.create_all(connection, checkfirst=True)
            if connection.execute(select(meta.c.value)).first() is None:
                row = {"name": "schema_version", "value": str(VERSION)}
                connection.execute(insert(meta).values(row))
    check(engine)
    with engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
        known = update(meta).where(meta.c.name == "schema_version")
        connection.execute(known.values(value=str(VERSION)))


def check(engine: Engine) -> bool:
    """Whether there is anything in it; what there is must be ours.

    Raises:
        StoreError: another schema, or tables of something else.
    """
    version = _version(engine)
    if version is not None and version != VERSION:
        said = f"schema {version}" if version >= 0 else "a schema that nobody can read"
        raise StoreError(
            f"the store has {said}, this version of kernelwright reads {VERSION}",
            hint=f"{'upgrade' if version > VERSION else 'take an older'} kernelwright, or choose "
            "another place with --store",
        )
    return version is not None


def insert_once(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Insert rows named by their content; those that are there already are the same."""
    if not rows:
        return
    dialects: dict[str, Callable[[Table], Any]] = {
        "sqlite": sqlite.insert,
        "postgresql": postgresql.insert,
    }
    make = dialects.get(connection.dialect.name)
    if make is None:
        raise StoreError(
            f"a store cannot be kept in {connection.dialect.name}",
            hint="use a file or a PostgreSQL URL with --store",
        )
    connection.execute(make(table).on_conflict_do_nothing(), rows)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _version(engine: Engine) -> int | None:
    with engine.connect() as connection:
        found = set(inspect(connection).get_table_names())
        if not found:
            return None
        if "meta" not in found or not found >= {"runs", "claims"}:
            raise StoreError(
                "the database holds tables that are not kernelwright's",
                hint="choose another place with --store",
            )
        query = select(meta.c.value).where(meta.c.name == "schema_version")
        value = connection.execute(query).scalar()
    if value is None:
        return None
    return int(value) if value.isdecimal() else -1
