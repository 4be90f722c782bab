"""Which functions a shared library exports, read from its bytes.

Loading a library runs its constructors, so a trusted process must not; and the tools that print
symbols are not installed everywhere.
"""

import struct

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC_SYMBOLS = 11
_FUNCTIONS = (2, 10)  # ordinary, and chosen when loaded
_EXPORTED = (1, 2)  # global, weak
_LONGEST_NAME = 1 << 16


def exported_functions(data: bytes) -> tuple[str, ...]:
    """Names of the functions that a 64-bit little-endian ELF library defines for others, sorted.

    Raises:
        ValueError: the bytes are no such library.
    """
    try:
        return tuple(sorted(set(_functions(data))))
    except (struct.error, IndexError, OverflowError) as problem:
        raise ValueError(f"a damaged library: {problem}") from problem


def _functions(data: bytes) -> list[str]:
    identity, *_, size, count, _ = header = _HEADER.unpack_from(data)
    if identity[:6] != b"\x7fELF\x02\x01" or size != _SECTION.size:
        raise ValueError("not a 64-bit ELF library")
    start = header[6]
    sections = [_SECTION.unpack_from(data, start + at * size) for at in range(count)]
    found = []
    for section in sections:
        if section[1] != _DYNAMIC_SYMBOLS:
            continue
        _, _, _, _, offset, length, link, _, _, _ = section
        names = sections[link][4]
        if offset + length > len(data):
            raise ValueError("a damaged library: symbols beyond its end")
        # A library has one such section; a made-up one may name the same bytes again and again.
        for at in range(offset, offset + length - _SYMBOL.size + 1, _SYMBOL.size):
            name, info, visibility, home, _, _ = _SYMBOL.unpack_from(data, at)
            hidden = visibility & 3 in (1, 2)
            if info & 15 in _FUNCTIONS and info >> 4 in _EXPORTED and home and not hidden:
                found.append(_text(data, names + name))
        break
    return found


def _text(data: bytes, start: int) -> str:
    end = data.find(b"\0", start, start + _LONGEST_NAME)
    if end < 0 or start >= len(data):
        raise ValueError("a damaged library: a name without an end")
    return data[start:end].decode(errors="replace")
