"""What requests and answers share."""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from kernelwright.candidates.text import read_text
from kernelwright.errors import UsageError, scarce
from kernelwright.records.validation import did_you_mean, should_be
from kernelwright.settings import Settings
from kernelwright.store.files import write_atomically

LINE = 120
"""Characters of a text that is shown where an answer is printed."""


class Positional(NamedTuple):
    """Marks a field of a request as positional on the command line."""

    metavar: str = ""


class Request(BaseModel):
    """What is asked. A field that shares its name with a setting overrides it unless None."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """A request from loose values, as a face collects them.

        A path may stand for its text, one word for several, and a mapping for NAME=VALUE.

        Raises:
            UsageError: a value is wrong; names the field.
        """
        known = cls.model_fields
        given = {
            name: _fitted(value, known[name].annotation) if name in known else value
            for name, value in fields.items()
        }
        try:
            return cls(**given)
        except ValidationError as problem:
            raise _explained(problem.errors()[0], tuple(known)) from problem

    def settings(self) -> Settings:
        """The settings that hold for this request.

        Raises:
            UsageError: a setting is wrong.
        """
        given = {name: getattr(self, name, None) for name in Settings.model_fields}
        return Settings.load(given)


def _fitted(value: Any, annotation: Any) -> Any:
    """A value in the form in which a command line would hand it over."""
    kinds = [annotation, *get_args(annotation)]
    several = next((kind for kind in kinds if get_origin(kind) is tuple), None)
    if several is None:
        return str(value) if isinstance(value, Path) and Path not in kinds else value
    if isinstance(value, Mapping):
        return tuple(f"{name}={one}" for name, one in value.items())
    if isinstance(value, Path) or (isinstance(value, str) and get_args(several)[0] is not str):
        return (value,)
    if isinstance(value, str):
        return tuple(filter(None, map(str.strip, value.split(","))))
    return value


def _explained(error: Mapping[str, Any], known: Sequence[str]) -> UsageError:
    name = str(error["loc"][0]) if error["loc"] else "request"
    if error["type"] == "extra_forbidden":
        hint = did_you_mean(name, known) or f"known: {', '.join(known)}"
        return UsageError(f"unknown argument {name!r}", hint=hint)
    what, given = should_be(error), error["input"]
    if isinstance(given, str | int | float) and what.startswith("must"):
        what += f", not {given!r}"
    return UsageError(f"{name}: {what}" if not what.startswith("is ") else f"{name} {what}")


class Answer(BaseModel):
    """What came out; its fields are the JSON that others rely on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """Its short fields that say something: what is printed must not flood a terminal."""
        for name, value in self:
            line = isinstance(value, str) and len(value) <= LINE and "\n" not in value
            if value != "" and (line or isinstance(value, bool | int | float)):
                yield name, value

    def __str__(self) -> str:
        return repr(self)

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

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """How many there are."""
        yield from super().__repr_args__()
        yield "rows", len(self.rows())

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
        beside = {one.stem: one.name for one in path.parent.glob(f"*{path.suffix}")}
        close = get_close_matches(path.stem, beside, n=1)
        hint = f"did you mean {beside[close[0]]!r}?" if close else "check the path"
        raise UsageError(f"no such file: {path}", hint=hint) from problem
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
