"""Hostile inputs from a seed: sound examples, broken in ways that have broken parsers before.

Most are short, so that many can be tried; one in a thousand is long and made of one repeated
piece, which is where time that grows with the square of the length shows.
"""

import json
import random
import struct
from collections.abc import Sequence
from typing import Any

LONG = 1 << 16
"""Letters of a long input."""
LONG_SHARE = 0.001
PIECES = (
    "\0", "\n", "\r\n", "\r", "\t", " ", "\u2028", "\u00e9", "\ud800", "\U0001f600", "\ufeff",
    "\x1b[31m", "-", "+", ".", ",", ":", ";", "=", "#", "//", "///", "/*", "*/", '"', "'", '"""',
    "'''", "\\", "{", "}", "[", "]", "(", ")", "<", ">", "%", "$", "~", "~nobody/", "../", "!",
    "0", "-1", "1e999", "-1e999", "nan", "inf", "0x1F", "1_0", "9" * 20, "9" * 5000, "1e-400",
    "2023-13-45", "true", "null", "None", "NaN", "Infinity", "[" * 200, "(" * 200, "{" * 200,
    '{"a":' * 200, "a." * 200, "-" * 200, "not " * 100, "1+" * 300, "a" * 300, "9" * 309,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 2**64, 10**30, 10**400, 0.0, -0.0, 1.5,
    1e308, float("inf"), float("-inf"), float("nan"), "", "a", "\0", "\ud800", "x" * 300, [], {},
    [[]], {"": None}, "nan", "1e999", "9" * 5000,
)  # fmt: skip


def text(chance: random.Random, examples: Sequence[str], words: Sequence[str] = ()) -> str:
    """An example with a few things changed, or one piece again and again.

    Args:
        chance: the source of everything drawn.
        examples: sound inputs.
        words: of the language that is parsed; they are inserted like any other piece.
    """
    pieces = (*PIECES, *words, *words)
    if chance.random() < LONG_SHARE:
        piece = chance.choice(pieces)
        head, tail = chance.choice(examples), chance.choice(("", *examples))
        return head[: chance.randrange(len(head) + 1)] + piece * (LONG // len(piece)) + tail
    found = chance.choice(examples)
    for _ in range(chance.choice((0, 1, 1, 2, 3, 5, 9))):
        found = _changed(chance, found, pieces, examples)
    return found


def _changed(
    chance: random.Random, found: str, pieces: Sequence[str], examples: Sequence[str]
) -> str:
    at = chance.randrange(len(found) + 1)
    end = min(len(found), at + chance.choice((1, 1, 2, 4, 8, 40)))
    match chance.randrange(7):
        case 0:
            return found[:at] + found[end:]
        case 1:
            return found[:at] + chance.choice(pieces) + found[at:]
        case 2:
            return found[:at] + chance.choice(pieces) + found[end:]
        case 3:
            return found[:at] + found[at:end] * chance.randrange(2, 9) + found[end:]
        case 4:
            return found[:at] + chr(chance.choice((127, 255, 0x3B1, 0x661))) + found[end:]
        case 5:
            other = chance.choice(examples)
            return found[:at] + other[chance.randrange(len(other) + 1) :]
        case _:
            return found[:at]


def value(chance: random.Random, example: Any) -> Any:
    """A JSON value like the example, some of its parts replaced, left out or moved elsewhere."""
    if chance.random() < LONG_SHARE:
        return nested(chance)
    changes = chance.choice((0, 0.7, 1, 1, 2, 4))
    return _value(chance, example, changes / _parts(example))


def _parts(example: Any) -> int:
    if isinstance(example, dict):
        return 1 + sum(map(_parts, example.values()))
    return 1 + sum(map(_parts, example)) if isinstance(example, list) else 1


def _value(chance: random.Random, example: Any, rate: float) -> Any:
    if chance.random() < rate:
        return nested(chance) if chance.random() < 0.05 else chance.choice(VALUES)
    if isinstance(example, dict):
        kept = {
            name: _value(chance, one, rate)
            for name, one in example.items()
            if chance.random() > rate / 3
        }
        if kept and chance.random() < rate / 3:
            kept[chance.choice(("extra", "", "\ud800", *kept))] = chance.choice(VALUES)
        return kept
    if isinstance(example, list):
        found = [_value(chance, one, rate) for one in example if chance.random() > rate / 3]
        return found * 2 if chance.random() < rate / 3 else found
    return example


def nested(chance: random.Random) -> Any:
    """A list or an object within others, about as deep as a reader of JSON lets pass."""
    found: Any = chance.choice(VALUES)
    for _ in range(chance.choice((10, 100, 400, 900))):
        found = [found] if chance.random() < 0.5 else {"a": found}
    return found


def wire(chance: random.Random, example: Any) -> bytes:
    """The same as JSON text, itself broken now and then."""
    try:
        told = json.dumps(value(chance, example))
    except (RecursionError, ValueError):
        told = "[" * 5000
    if chance.random() < 0.15:
        told = text(chance, (told,))
    return told.encode("utf-8", "surrogatepass")


def binary(chance: random.Random, example: bytes) -> bytes:
    """Bytes like the example, numbers in it overwritten or its end cut off."""
    found = bytearray(example)
    for _ in range(chance.choice((0, 1, 1, 2, 4, 16))):
        if not found:
            break
        at = chance.randrange(len(found))
        number = chance.choice((0, 1, 2, 11, 0x7F, 0xFF, 2**16 - 1, 2**31, 2**32 - 1, 2**63))
        packed = struct.pack("<Q", number)[: chance.choice((1, 2, 4, 8))]
        found[at : at + len(packed)] = packed
    if chance.random() < 0.15:
        del found[chance.randrange(len(found) + 1) :]
    return bytes(found)
