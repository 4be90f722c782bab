"""Exported functions, from libraries put together by hand and from damaged ones."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.languages.elf import exported_functions, wants

FUNCTION, OBJECT = 2, 1
LOCAL, GLOBAL, WEAK = 0, 1, 2


def library(*symbols):
    """A library with (name, kind, binding, defined, hidden) symbols."""
    names, table = b"\0", struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    for name, kind, binding, defined, hidden in symbols:
        info = binding << 4 | kind
        table += struct.pack("<IBBHQQ", len(names), info, 2 * hidden, 7 * defined, 64, 8)
        names += name.encode() + b"\0"
    start = 64 + len(names) + len(table)
    sections = [
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        (0, 3, 0, 0, 64, len(names), 0, 0, 1, 0),
        (0, 11, 0, 0, 64 + len(names), len(table), 1, 1, 8, 24),
    ]
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, 62, 1, 0, 0, start, 0, 64, 0, 0, 64, 3, 0
    )
    return header + names + table + b"".join(struct.pack("<IIQQQQIIQQ", *one) for one in sections)


SOUND = library(
    ("softmax", FUNCTION, GLOBAL, True, False),
    ("weak", FUNCTION, WEAK, True, False),
    ("chosen", 10, GLOBAL, True, False),
    ("table", OBJECT, GLOBAL, True, False),
    ("local", FUNCTION, LOCAL, True, False),
    ("expf", FUNCTION, GLOBAL, False, False),
    ("hidden", FUNCTION, GLOBAL, True, True),
)


def test_only_functions_that_others_can_call():
    assert exported_functions(SOUND) == ("chosen", "softmax", "weak")


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"#!/bin/sh\n" * 20, SOUND[:100], SOUND[:-1]])
def test_what_is_no_library_is_refused(data):
    with pytest.raises(ValueError, match=r"ELF|damaged"):
        exported_functions(data)


@given(st.integers(0, len(SOUND) - 1), st.integers(0, 255))
def test_a_changed_byte_gives_names_or_a_value_error(place, value):
    damaged = bytearray(SOUND)
    damaged[place] = value
    try:
        found = exported_functions(bytes(damaged))
    except ValueError:
        return
    assert all(isinstance(name, str) for name in found)


def test_what_a_library_takes_from_others():
    found = wants(SOUND)
    assert found.symbols == {"expf"}
    assert found.libraries == set()
