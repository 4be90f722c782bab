"""What a candidate's file says of itself: TOML in comments, read without executing anything.

The block lies between ``/// kernelwright`` and ``///``, each line behind the language's comment
sign, as PEP 723 does it. A file without a block is fine. Whether a flag or a library is allowed
is decided by the language that builds the file, not here.
"""

import ast
import keyword
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn

from kernelwright import expressions, toml
from kernelwright.candidates import words
from kernelwright.candidates.notation import Notation, notation
from kernelwright.errors import HeaderError
from kernelwright.plugins import nearest
from kernelwright.records.candidate import Header, Value

MAX_BYTES = 64 << 10
MAX_TUNABLES = 32
MAX_VALUES = 256
MARKER = "kernelwright"
_KEYS = ("strategy", "tune", "where", "cures", "needs", "flags")
_LISTS = ("where", "cures", "needs", "flags")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_LINE_ENDS = re.compile(r"\r\n|\r|\n")


def parse(source: str, language: str) -> Header:
    """The header of a candidate's file; an empty one when the file has none.

    Args:
        source: the whole file.
        language: says how the file comments.

    Raises:
        HeaderError: the block is malformed; the message begins with the line in the file.
        UsageError: the language is not installed.
    """
    block = _find(source, notation(language))
    if block is None:
        return Header()
    table = block.table()
    for key in table:
        if key not in _KEYS:
            block.fail(key, f"unknown key {key!r}", nearest(key, _KEYS))
    strategy = table.get("strategy", "")
    if not isinstance(strategy, str) or not " ".join(strategy.split()).isprintable():
        block.fail("strategy", "strategy is one line of text")
    lists = {key: _words(block, key, table[key]) for key in _LISTS if key in table}
    for rule in lists.get("where", ()):
        _check_expression(block, "where", rule)
    tune = table.get("tune", {})
    if not isinstance(tune, dict):
        block.fail("tune", "tune is a table", "write tune.NAME = [values]")
    if len(tune) > MAX_TUNABLES:
        block.fail("tune", f"more than {MAX_TUNABLES} tunables")
    return Header(
        strategy=" ".join(strategy.split()),
        tune={name: _tunable(block, name, value) for name, value in tune.items()},
        where=lists.get("where", ()),
        cures=lists.get("cures", ()),
        needs=lists.get("needs", ()),
        flags=lists.get("flags", ()),
    )


@dataclass(frozen=True)
class _Block:
    """The lines between the two markers, comment signs removed."""

    first: int
    """Line in the file of the opening marker, from 1."""
    lines: tuple[str, ...]

    def table(self) -> dict[str, Any]:
        text = "\n".join(self.lines)
        if len(text.encode(errors="surrogatepass")) > MAX_BYTES:
            self.fail("", f"a header of more than {MAX_BYTES >> 10} KiB")
        try:
            return toml.loads(text + "\n")
        except toml.TomlError as problem:
            line = self.first + (problem.line or len(self.lines))
            what = f"the header is not TOML: {problem.what[:1].lower()}{problem.what[1:]}"
            raise HeaderError(f"line {line}: {what}", hint=problem.hint) from problem

    def fail(self, key: str, what: str, hint: str = "") -> NoReturn:
        """Raise for ``key``, at its line when it can be told, else at the opening marker."""
        pattern = re.compile(rf"""\s*(?:tune\s*\.\s*)?["']?{re.escape(key)}["']?\s*[.=]""")
        places = (at for at, line in enumerate(self.lines, 1) if key and pattern.match(line))
        raise HeaderError(f"line {self.first + next(places, 0)}: {what}", hint)


def _find(source: str, written: Notation) -> _Block | None:
    opening, closing = written.header_lines()
    inside = re.compile(rf"\s*{re.escape(written.comment)}[ ]?(.*)")
    block: _Block | None = None
    lines = iter(enumerate(_LINE_ENDS.split(source.removeprefix("\ufeff")), start=1))
    for number, line in lines:
        if not opening.fullmatch(line):
            _check_marker(number, line, written)
            continue
        if block is not None:
            raise HeaderError(
                f"line {number}: a second header", f"the first is on line {block.first}"
            )
        block = _Block(number, tuple(_contents(lines, number, opening, closing, inside)))
    return block


def _check_marker(number: int, line: str, written: Notation) -> None:
    """Refuse what was meant to open a header.

    Raises:
        HeaderError: the line opens something whose name is nearly ours.
    """
    found = re.fullmatch(rf"\s*{re.escape(written.comment)}\s*///\s*(\w+)\s*", line)
    if found and get_close_matches(found[1].lower(), [MARKER], cutoff=0.75):
        raise HeaderError(
            f"line {number}: {found[1]!r} opens no header", f"did you mean /// {MARKER}?"
        )


def _contents(
    lines: Iterator[tuple[int, str]],
    first: int,
    opening: re.Pattern[str],
    closing: re.Pattern[str],
    inside: re.Pattern[str],
) -> Iterator[str]:
    for number, line in lines:
        if closing.fullmatch(line):
            return
        if opening.fullmatch(line):
            raise HeaderError(f"line {number}: a second header", f"the first is on line {first}")
        found = inside.fullmatch(line)
        if not found:
            if any(closing.fullmatch(rest) for _, rest in lines):
                raise HeaderError(
                    f"line {number}: a line of the header is not a comment",
                    f"begin it as the others; the header opens on line {first}",
                )
            break
        yield found[1]
    raise HeaderError(
        f"line {first}: the header is not closed", "end it with a comment line holding only ///"
    )


def _words(block: _Block, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        block.fail(key, f"{key} is a list of texts")
    return tuple(value)


def _tunable(block: _Block, name: str, value: object) -> tuple[Value, ...] | str:
    if not _NAME.fullmatch(name):
        block.fail(name, f"tunable {name!r} is not a name", "letters, digits and _")
    if name in words.RESERVED or keyword.iskeyword(name):
        block.fail(name, f"tunable {name!r} is a reserved word", "choose another name")
    if isinstance(value, str):
        _check_expression(block, name, value)
        return value
    if not isinstance(value, list):
        block.fail(name, f"tunable {name!r} is a list of values or one formula")
    if not 1 <= len(value) <= MAX_VALUES:
        block.fail(name, f"tunable {name!r} has {len(value)} values, not 1 to {MAX_VALUES}")
    if len({type(item) for item in value}) > 1:
        block.fail(name, f"tunable {name!r} mixes types", "write 0.0 beside 0.5, not 0")
    for item in value:
        if not _is_value(item):
            block.fail(name, f"tunable {name!r} cannot take the value {item!r}")
    return tuple(dict.fromkeys(value))


def _is_value(item: object) -> bool:
    match item:
        case bool():
            return True
        case int():
            return -(2**63) <= item < 2**63
        case float():
            return math.isfinite(item)
        case str():
            return len(item) <= 200 and item.isprintable()
        case _:
            return False


def _check_expression(block: _Block, key: str, text: str) -> None:
    """Refuse what can never be evaluated, in any branch; unlucky values may still fail later."""
    try:
        tree = expressions.parse(text)
        ones: Mapping[str, int] = dict.fromkeys(expressions.names(text), 1)
        for node in ast.walk(tree):
            if isinstance(node, ast.expr) and not isinstance(node, ast.Name):
                expressions.evaluate(ast.unparse(node), ones)
    except RecursionError:
        block.fail(key, "an expression nested too deeply")
    except expressions.ExpressionError as problem:
        if not isinstance(problem.__cause__, ArithmeticError):
            block.fail(key, f"not an expression over axes and tunables: {problem}")
