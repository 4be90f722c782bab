"""What requests and answers share."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from kernelwright.candidates.text import read_text
from kernelwright.errors import UsageError, scarce
from kernelwright.settings import Settings
from kernelwright.store.files import write_atomically


class Positional(NamedTuple):
    """Marks a field of a request as positional on the command line."""

    metavar: str = ""


class Request(BaseModel):
    """What is asked. A field that shares its name with a setting overrides it unless None."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """A request from loose values, as a face collects them.

        Raises:
            UsageError: a value is wrong; names the field.
        """
        try:
            return cls(**fields)
        except ValidationError as problem:
            first = problem.errors()[0]
            name = ".".join(str(part) for part in first["loc"][:1]) or "request"
            what = first["msg"].removeprefix("Value error, ")
            raise UsageError(f"{name}: {what[:1].lower()}{what[1:]}") from problem

    def settings(self) -> Settings:
        """The settings that hold for this request.

        Raises:
            UsageError: a setting is wrong.
        """
        given = {name: getattr(self, name, None) for name in Settings.model_fields}
        return Settings.load(given)


class Answer(BaseModel):
    """What came out; its fields are the JSON that others rely on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def exit_code(self) -> int:
        """0 done, 3 the answer is no, 4 a budget ended first, 130 interrupted, 2 not usable."""
        return 0

    def to_json(self) -> str:
        """One JSON object on one line."""
        return self.model_dump_json()

    def text(self) -> str:
        """The form for people."""
        raise NotImplementedError

    def notes(self) -> Sequence[str]:
        """Lines for the margin (standard error): hints, what to do next."""
        return ()


class ListAnswer(Answer):
    """An answer whose JSON is one object a row."""

    def rows(self) -> Sequence[BaseModel]:
        """The rows, in order."""
        raise NotImplementedError

    def to_json(self) -> str:
        """JSONL: one object a line, nothing for an empty list."""
        return "\n".join(row.model_dump_json() for row in self.rows())


def plain(value: Any) -> Any:
    """A value as JSON types; tuples become lists, paths become text."""
    return json.loads(json.dumps(value, default=str))


def read_source(path: Path) -> str:
    """Text of a file that a user named.

    Raises:
        UsageError: it cannot be read as UTF-8 text, or is too long.
    """
    try:
        return read_text(path)
    except FileNotFoundError as problem:
        raise UsageError(f"no such file: {path}") from problem
    except UnicodeDecodeError as problem:
        raise UsageError(f"{path} is not UTF-8 text") from problem
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {problem.strerror}") from problem


def write_text(path: Path, text: str) -> None:
    """Write a file that a user named; what was there stays until the new one is whole.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():  # a device or a pipe is written to, not replaced
            path.write_text(text, encoding="utf-8")
        else:
            write_atomically(path.resolve(), text.encode())
    except OSError as problem:
        lacking = scarce(problem)
        raise UsageError(
            f"{path} cannot be written: {problem.strerror or problem}",
            hint=lacking.hint if lacking else "",
        ) from problem
