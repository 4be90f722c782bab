"""Write every evaluation of a run as JSONL, CSV or Parquet, or the run's folder again.

One row an evaluation, in the order in which they ended, on standard output or to a file. The form
"folder" writes the plain files of the run: best.*, run.toml, events.jsonl; while nobody is
confirmed, leading.* in place of best.*: who leads, of whom nothing is claimed; where nobody was
faster, closest.*. RUN is an id, the beginning of one, or "latest".
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from kernelwright.errors import PrerequisiteError, UsageError
from kernelwright.extras import how_to_add
from kernelwright.search.summary import summarise
from kernelwright.store import folders, frames
from kernelwright.verbs import base, setup

if TYPE_CHECKING:
    import pandas as pd


class Request(base.Request):
    """Which run, in which form, to which file."""

    run: Annotated[str, base.Positional()] = Field(description="id, its beginning, or latest")
    form: Literal["jsonl", "csv", "parquet", "folder"] = Field(
        "jsonl", description="form of what is written"
    )
    to: Path | None = Field(
        None,
        description="file or folder to write; default: standard output, or the run's own folder",
    )
    store: str | None = Field(None, description="file or database URL that keeps every run")


class Row(BaseModel):
    """One evaluation; the columns are those of the frame."""

    model_config = ConfigDict(extra="allow")


class Answer(base.ListAnswer):
    """The rows, or where they were written."""

    evaluations: tuple[dict[str, Any], ...]
    form: str
    place: str
    """Where they were written; empty: nowhere but here."""

    def rows(self) -> tuple[BaseModel, ...]:
        """One object an evaluation."""
        return tuple(Row(**row) for row in self.evaluations)

    def text(self) -> str:
        """The rows themselves, or the name of what was written."""
        if self.place:
            return self.place
        return _csv(self.evaluations) if self.form == "csv" else self.to_json()


def run(request: Request, *, observer: object = None) -> Answer:
    """Read the evaluations and write them."""
    if request.form == "parquet" and request.to is None:
        raise UsageError("Parquet is not text", hint="--to FILE")
    with setup.store(request.settings(), writable=False) as store:
        run_id = store.run(request.run).id
        rows = tuple(frames.rows(store, run_id))
        place = str(request.to or "")
        if request.form == "folder":
            sources = summarise(store, run_id).sources()
            place = str(folders.export(store, run_id, request.to, sources=sources))
    if request.to and request.form != "folder":
        _write(request.to, request.form, rows)
    return Answer(evaluations=rows, form=request.form, place=place)


def _write(path: Path, form: str, rows: Sequence[dict[str, Any]]) -> None:
    if form == "parquet":
        _parquet(path, rows)
    elif form == "csv":
        base.write_text(path, _csv(rows) + "\n")
    else:
        base.write_text(path, "".join(json.dumps(row) + "\n" for row in rows))


def _parquet(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    try:
        _typed(rows).to_parquet(path)
    except ImportError as problem:
        raise PrerequisiteError(
            "Parquet needs the package 'pyarrow', which is missing", hint=how_to_add("pyarrow")
        ) from problem
    except OSError as problem:
        raise UsageError(f"{path} cannot be written: {problem.strerror or problem}") from problem


def _typed(rows: Sequence[dict[str, Any]]) -> "pd.DataFrame":
    """A frame whose columns have one type each: a tunable may be a number here and a text there."""
    import pandas as pd

    frame = pd.DataFrame.from_records(rows)
    for name in frame:
        kinds = {type(value) for value in frame[name].dropna()}
        if len(kinds) > 1 and not kinds <= {int, float}:
            frame[name] = frame[name].map(str, na_action="ignore")
    return frame


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    import pandas as pd

    return str(pd.DataFrame.from_records(rows).to_csv(index=False)).rstrip("\n")
