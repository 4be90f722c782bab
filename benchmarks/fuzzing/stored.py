"""What a disk gives back: rows of the store, its place, owners, notes beside builds, landscapes."""

import gzip
import json
import random
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

from benchmarks.fuzzing import making
from benchmarks.fuzzing.parser import Parser
from benchmarks.fuzzing.tasks import folder
from benchmarks.fuzzing.typed import typed
from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.devices import measured
from kernelwright.languages.cache import Cache
from kernelwright.records.evaluation import Build, Check, Evaluation
from kernelwright.records.measurement import Comparison, Measurement, Times
from kernelwright.records.outcome import Decision, Outcome
from kernelwright.records.run import Run, RunSpec
from kernelwright.records.rung import Rung
from kernelwright.search import landscape
from kernelwright.store import leases, location, rows
from kernelwright.store.sealed import seal
from kernelwright.store.store import Store
from kernelwright.testing.simulated import made_up_task

PLACES = (
    "sqlite:////tmp/a.db",
    "postgresql://me:secret@host:5432/db?sslmode=require",
    "runs.db",
    "sqlite://",
    "~/runs.db",
    "postgresql+psycopg://host/db",
)
PLACE_WORDS = ("://", ":99x/", "@", "?", "&a=", "%", "[::1]", "~nobody/", "\0", "sqlite:", "file:")
CANDIDATE = make_candidate("int twice();\n", "cpp", {})
TASK = made_up_task()
LOOK = Evaluation(
    candidate=CANDIDATE.id,
    rung=Rung.SCREEN,
    outcome=Outcome.PASSED,
    checks=(Check(name="smoke", outcome=Outcome.PASSED, seconds=0.1),),
    measurements=(
        Measurement(
            workload="main", time_us=Times(median=2, p20=1, p80=3, min=1, n=30), noop_us=0.1
        ),
    ),
    comparisons=(
        Comparison(
            baseline="loop",
            workload="main",
            ratio=2,
            low=1.9,
            high=2.1,
            margin=0.01,
            pairs=30,
            decision=Decision.FASTER,
            candidate_us=1,
            baseline_us=2,
            samples=(0.6, 0.7),
        ),
    ),
    build=Build(seconds=1.0),
)
RUN = Run(
    id="20300101-abcdef",
    created="2030-01-01T00:00:00+00:00",
    spec=RunSpec(task="a", device="cpu", threads=1),
    status="improved",
)
NUMBERS: tuple[Any, ...] = (
    0,
    1,
    2,
    -1,
    2**63,
    1.5,
    float("inf"),
    float("nan"),
    None,
    "a",
    b"\xff",
    "",
)


def _json(chance: random.Random, example: Any, *beside: str | float) -> str:
    """The text of a row: sealed as it should be, or not, or broken after it was."""
    told = making.wire(chance, example).decode("utf-8", "replace")
    if chance.random() < 0.7 and told.endswith("}"):
        told = seal(told, *beside)
    told = making.text(chance, (told,)) if chance.random() < 0.1 else told
    return told.encode("utf-8", "replace").decode()  # a database holds no half of a letter


def _plain(record: Any) -> Any:
    return record.model_dump(mode="json")


def _row(fields: dict[str, Any]) -> Callable[[random.Random], Any]:
    """Maker of rows with those columns; ``json`` is made from what stands there."""

    def make(chance: random.Random) -> Any:
        found = {
            name: chance.choice(NUMBERS) if chance.random() < 0.03 else value
            for name, value in fields.items()
        }
        example, beside = fields.get("json", ({}, ()))
        found["json"] = _json(chance, example, *(fields[name] for name in beside))
        return SimpleNamespace(**found)

    return make


def _task(chance: random.Random) -> tuple[str, str]:
    told = _json(chance, _plain(TASK))
    return (sha256(told.encode()).hexdigest() if chance.random() < 0.8 else "0" * 64), told


def _owner(chance: random.Random) -> tuple[str, Any]:
    word = making.text(chance, (leases.me(),), (":", "1", "9" * 10))
    return word, chance.choice((0.0, 1e12, *NUMBERS))


@cache
def _store() -> Store:
    return Store.open(str(folder() / "runs.db"))


def _notes(chance: random.Random) -> str:
    facts = {"sha256": "0", "log": "", "vectorised": 1, "symbols": ["twice"]}
    return making.wire(chance, facts).decode("utf-8", "replace")


def _built(text: str) -> object:
    kept = Cache(folder() / "builds", file="kernel.so")
    entry = kept.put("ab" * 32, b"library", {})
    told = text.replace('"0"', json.dumps(sha256(b"library").hexdigest()))
    (entry.library.parent / "facts.json").write_text(told, encoding="utf-8")
    return kept.get("ab" * 32)


def _peaks(text: str) -> object:
    path = measured._path(1, folder())
    path.write_text(text, encoding="utf-8")
    found = measured.recent(1, folder())
    return found and 2 * found.copy_gbps + found.flush_bytes


def _landscape(chance: random.Random) -> bytes:
    head = landscape_head()
    source = sha256(b"x").hexdigest()[:16]
    candidate = _plain(CANDIDATE) | {"source": source}
    lines = [
        making.wire(chance, head) if chance.random() < 0.3 else json.dumps(head).encode(),
        making.wire(chance, {"source": source, "text": "int twice();\n"}),
        making.wire(chance, {"candidate": candidate, "looks": [_plain(LOOK)]}),
    ]
    packed = gzip.compress(b"\n".join(lines) + b"\n", 1)
    return making.binary(chance, packed) if chance.random() < 0.2 else packed


@cache
def landscape_head() -> dict[str, Any]:
    """The first line of a small landscape."""
    from kernelwright.records.job import Session
    from kernelwright.search.rungs import plans_for

    session = Session(
        baselines=(), strongest="loop", bandwidth_gbps=1, rate_gflops=1, noop_us=0, environment={}
    )
    plans = tuple(plans_for("quick").values())
    return landscape.head_line(landscape.Landscape(TASK, session, plans, 1))


def _loaded(data: bytes) -> object:
    path = folder() / "landscape.jsonl.gz"
    path.write_bytes(data)
    return landscape.load(path)


LOOK_ROW = {
    "run": RUN.id,
    "number": 1,
    "sequence": 1,
    "wall_s": 1.0,
    "device_s": 0.5,
    "candidate": LOOK.candidate,
    "rung": 2,
    "outcome": "passed",
    "json": (_plain(LOOK), ("run", "number", "sequence", "wall_s", "device_s")),
}
RUN_ROW = {"id": RUN.id, "status": RUN.status, "json": (_plain(RUN), ("id",))}
CANDIDATE_ROW = {
    "run": RUN.id,
    "id": CANDIDATE.id,
    "position": 1,
    "text": CANDIDATE.source,
    "source": sha256(CANDIDATE.source.encode()).hexdigest(),
    "json": (_plain(CANDIDATE), ("run", "id", "position")),
}
CLAIM_ROW = {"run": RUN.id, "number": 1, "candidate": "a", "rung": 2, "reserved_s": 1.0}
POST = {"kind": "win", "axis": "HELD", "value": "3", "evaluation": 1, "effect": 1.5, "text": "b"}
POST_ROW = {"run": RUN.id, "position": 1, "json": (POST, ("run", "position"))}
EVENT_ROW = {
    "run": RUN.id,
    "sequence": 1,
    "kind": "opened",
    "json": ({"session": {}}, ("run", "sequence", "kind")),
}
PARSERS = (
    Parser("row of a run", _row(RUN_ROW), rows.run),
    Parser("row of a task", _task, lambda given: rows.task(*given)),
    Parser("row of a candidate", _row(CANDIDATE_ROW), rows.candidate),
    Parser("row of a claim", _row(CLAIM_ROW), rows.claim),
    Parser("row of an evaluation", _row(LOOK_ROW), rows.evaluation),
    Parser("row of a post", _row(POST_ROW), rows.post),
    Parser("row of an event", _row(EVENT_ROW), rows.event),
    Parser("owner of a run", _owner, lambda given: leases.present("running", *given)),
    Parser(
        "place of a store",
        lambda chance: making.text(chance, PLACES, PLACE_WORDS),
        lambda text: location.file_of(location.parse(text)),
    ),
    Parser(
        "word for a run",
        lambda chance: typed(making.text(chance, ("latest", RUN.id, "2030"), ("%", "_", "/"))),
        lambda word: _store().run(word),
    ),
    Parser("note beside a build", _notes, _built),
    Parser(
        "peaks that were kept",
        lambda chance: making.wire(
            chance,
            {"warm_read_gbps": 1.0, "rate_gflops": 1.0, "flush_bytes": 1, "copy_gbps": 1.0},
        ).decode("utf-8", "replace"),
        _peaks,
    ),
    Parser("landscape", _landscape, _loaded),
)
