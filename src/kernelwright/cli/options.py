"""Options of a verb, made from the fields of its request."""

import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import click
from pydantic.fields import FieldInfo

from kernelwright.settings import Settings
from kernelwright.verbs.base import Positional, Request


def _comma_words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    return tuple(value)


def parameters(request: type[Request]) -> list[click.Parameter]:
    """One click parameter a field, positional ones first in their order."""
    made = [_parameter(name, field) for name, field in request.model_fields.items()]
    return sorted(made, key=lambda parameter: isinstance(parameter, click.Option))


def common() -> list[click.Parameter]:
    """Options that every verb has."""
    return [
        click.Option(["--json", "as_json"], is_flag=True, help="print JSON on standard output"),
        click.Option(["--quiet"], is_flag=True, help="no progress on standard error"),
        click.Option(["--debug"], is_flag=True, help="show tracebacks and the debug log"),
    ]


def _parameter(name: str, field: FieldInfo) -> click.Parameter:
    kind, many = _click_type(field.annotation)
    required = field.is_required()
    positional = next((mark for mark in field.metadata if isinstance(mark, Positional)), None)
    if positional is not None:
        metavar = positional.metavar or name.upper()
        if not required:
            metavar = f"[{metavar}]"
        return click.Argument(
            [name],
            type=kind,
            required=required,
            nargs=-1 if many else 1,
            metavar=metavar + ("…" if many else ""),
        )
    option = "--" + name.strip("_").replace("_", "-")
    if kind is click.BOOL:
        return click.Option([option, name], is_flag=True, default=False, help=field.description)
    return click.Option(
        [option, name],
        type=kind,
        required=required,
        multiple=many,
        default=field.default if not required and not many else None,
        help=_help(name, field),
        metavar="A,B…" if kind is _comma_words else None,
    )


def _help(name: str, field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True, validated_data={})
    if default is None and name in Settings.model_fields:
        default = Settings.model_fields[name].get_default(
            call_default_factory=True, validated_data={}
        )
    if isinstance(default, tuple):
        default = ",".join(map(str, default))
    text = field.description or ""
    shown = not field.is_required() and default not in (None, "")
    return f"{text} [default: {default}]" if shown else text


def _click_type(annotation: Any) -> tuple[Any, bool]:
    """The click type of an annotation, and whether the option repeats."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return _click_type(next(part for part in inner if part is not type(None)))
    if origin is tuple:
        if inner[0] is Path:
            return click.Path(path_type=Path), True
        return _comma_words, False
    if origin is Literal:
        return click.Choice(_words(inner)), False
    table: dict[Any, Any] = {
        bool: click.BOOL,
        int: click.INT,
        float: click.FLOAT,
        str: click.STRING,
        Path: click.Path(path_type=Path),
    }
    return table[annotation], False


def _words(inner: Sequence[Any]) -> list[str]:
    return [str(word) for word in inner]
