"""What a value that a record refuses should be, in words for those who wrote it.

Refuses to show the library's own words: whoever writes a task or calls a function has never heard
of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

_WORDS = {
    "int": "must be a whole number",
    "float": "must be a number",
    "decimal": "must be a number",
    "finite_number": "must be a finite number",
    "bool": "must be true or false",
    "string": "must be a text",
    "path": "must be a path",
    "tuple": "must be a list",
    "list": "must be a list",
    "dict": "must be a table",
    "mapping": "must be a table",
    "model": "must be a table",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "string_pattern_mismatch": "must be a name: letters, digits and _, no digit first",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must hold at least {min_length}",
    "literal_error": "must be {expected}",
    "int_parsing_size": "must be a smaller number",
    "missing": "is missing",
}
_UNION = ("int", "str", "float", "bool")
"""Ends of a place where one of several types was tried."""


def should_be(error: Mapping[str, Any]) -> str:
    """What one error asks for, for example ``must be above 0``."""
    kind = str(error["type"])
    if kind in ("value_error", "assertion_error"):
        what = str(error["msg"]).partition(", ")[2] or str(error["msg"])
        return what[:1].lower() + what[1:]
    template = _WORDS.get(kind) or _WORDS.get(kind.partition("_")[0])
    if template is None:
        what = str(error["msg"]).replace("Input should", "must").replace("valid ", "")
        return what[:1].lower() + what[1:]
    bounds = {
        name: f"{value:g}" if isinstance(value, float) else value
        for name, value in error.get("ctx", {}).items()
    }
    return template.format(**bounds)


def sentences(problem: ValidationError, model: type[BaseModel], whole: str) -> Iterator[str]:
    """One line a field: where, what is wrong, and what was given.

    Args:
        problem: what was raised.
        model: that refused.
        whole: the place of what is wrong with all of it.
    """
    found: dict[tuple[Any, ...], list[str]] = {}
    given: dict[tuple[Any, ...], Any] = {}
    for error in problem.errors(include_url=False):
        place = error["loc"][:-1] if error["loc"][-1:] and _tried(error["loc"]) else error["loc"]
        found.setdefault(place, []).append(
            _no_field(model, place) if error["type"] == "extra_forbidden" else should_be(error)
        )
        if error["type"] not in ("extra_forbidden", "missing"):
            given[place] = error["input"]
    for place, words in found.items():
        text = " or ".join((words[0], *(word.removeprefix("must be ") for word in words[1:])))
        if isinstance(given.get(place), str | int | float | bool):
            text += f", not {given[place]!r}"
        yield f"{'.'.join(map(str, place)) or whole}: {text}"


def did_you_mean(wrong: str, known: Sequence[str]) -> str:
    """The name that was probably meant, as a question, or an empty text."""
    close = get_close_matches(wrong, known, n=1)
    return f"did you mean {close[0]!r}?" if close else ""


def _tried(place: tuple[Any, ...]) -> bool:
    return len(place) > 1 and place[-1] in _UNION


def _no_field(model: type[BaseModel], place: tuple[Any, ...]) -> str:
    known = _fields(model, place[:-1])
    meant = did_you_mean(str(place[-1]), known)
    return f"is no field, {meant}" if meant else "is no field"


def _fields(model: type[BaseModel], place: Sequence[Any]) -> list[str]:
    """Names of the fields of the record at that place."""
    inside: type[BaseModel] | None = model
    for part in place:
        if isinstance(part, str) and inside is not None:
            field = inside.model_fields.get(part)
            inside = None if field is None else _record(field.annotation)
    return list(inside.model_fields) if inside is not None else []


def _record(annotation: Any) -> type[BaseModel] | None:
    """The record in an annotation, for example of a tuple of records."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_record, get_args(annotation))), None)
