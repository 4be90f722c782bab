"""What a shared library exports, imports and needs, read from its bytes.

Loading a library runs its constructors, so a trusted process must not; and the tools that print
symbols are not installed everywhere.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_ENTRY = struct.Struct("<qQ")
_DYNAMIC, _DYNAMIC_SYMBOLS = 6, 11
_NEEDED = 1
_FUNCTIONS = (2, 10)  # ordinary, and chosen when loaded
_EXPORTED = (1, 2)  # global, weak
_LONGEST_NAME = 1 << 16


@dataclass(frozen=True)
class Wants:
    """What a library expects of others."""

    symbols: frozenset[str]
    """Names that it uses and does not define."""
    libraries: frozenset[str]
    """Names of the libraries that are loaded with it, as ``libm.so.6``."""


def exported_functions(data: bytes) -> tuple[str, ...]:
    """Names of the functions that a 64-bit little-endian ELF library defines for others, sorted.

    Raises:
        ValueError: the bytes are no such library.
    """
    return tuple(sorted(_read(data, _exported)))


def wants(data: bytes) -> Wants:
    """What a 64-bit little-endian ELF library takes from other libraries.

    Raises:
        ValueError: the bytes are no such library.
    """
    return Wants(_read(data, _imported), _read(data, _needed))


def _read(data: bytes, names: Callable[[bytes], Iterator[str]]) -> frozenset[str]:
    try:
        return frozenset(names(data))
    except (struct.error, IndexError, OverflowError) as problem:
        raise ValueError(f"a damaged library: {problem}") from problem


def _exported(data: bytes) -> Iterator[str]:
    for names, entry in _rows(data, _DYNAMIC_SYMBOLS, _SYMBOL):
        name, info, visibility, home, _, _ = entry
        hidden = visibility & 3 in (1, 2)
        if info & 15 in _FUNCTIONS and info >> 4 in _EXPORTED and home and not hidden:
            yield _text(data, names + name)


def _imported(data: bytes) -> Iterator[str]:
    for names, (name, _, _, home, _, _) in _rows(data, _DYNAMIC_SYMBOLS, _SYMBOL):
        if name and not home:
            yield _text(data, names + name)


def _needed(data: bytes) -> Iterator[str]:
    for names, (tag, value) in _rows(data, _DYNAMIC, _ENTRY):
        if tag == _NEEDED:
            yield _text(data, names + value)


def _rows(data: bytes, kind: int, row: struct.Struct) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each row of the sections of a kind, with where the section's names begin."""
    identity, *_, size, count, _ = header = _HEADER.unpack_from(data)
    if identity[:6] != b"\x7fELF\x02\x01" or size != _SECTION.size:
        raise ValueError("not a 64-bit ELF library")
    sections = [_SECTION.unpack_from(data, header[6] + at * size) for at in range(count)]
    for section in sections:
        if section[1] != kind:
            continue
        _, _, _, _, offset, length, link, _, _, _ = section
        names = sections[link][4]
        if offset + length > len(data):
            raise ValueError("a damaged library: a table beyond its end")
        # A library has one such section; a made-up one may name the same bytes again and again.
        for at in range(offset, offset + length - row.size + 1, row.size):
            yield names, row.unpack_from(data, at)
        break


def _text(data: bytes, start: int) -> str:
    end = data.find(b"\0", start, start + _LONGEST_NAME)
    if end < 0 or start >= len(data):
        raise ValueError("a damaged library: a name without an end")
    return data[start:end].decode(errors="replace")
