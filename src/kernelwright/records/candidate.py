"""The candidate: source, language, chosen parameters, parents, author."""

from typing import Annotated

from pydantic import Field

from kernelwright.records.base import Record

Value = int | float | str | bool
Language = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=32)]
"""A name of the table of languages, which plug-ins extend; it may not be installed here."""


class Header(Record):
    """What a candidate's file says of itself, read without executing anything."""

    strategy: str = ""
    tune: dict[str, tuple[Value, ...] | str] = {}
    """Values of each tunable, the default first, or one formula over axes."""
    where: tuple[str, ...] = ()
    cures: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


class Candidate(Record):
    """One piece of source with its tunables fixed; printed without the source."""

    id: str
    """First 16 hexadecimal digits of the exact hash: source and values."""
    language: Language
    source: str = Field(repr=False)
    tunables: dict[str, Value] = {}
    strategy: str = ""
    fingerprint: str = Field(repr=False)
    """Normalised hash: formatting, comments and names removed."""
    parents: tuple[str, ...] = Field((), repr=False)
    author: str = Field("user", repr=False)
    """The proposer that made it."""
    origin: str = ""
    """The file it was read from, or how it was derived."""
    header: Header = Field(default_factory=Header, repr=False)
