"""Where a store lies, and what its failures mean for the user.

Refuses nothing by itself: it turns what the database or the file system says into a
:class:`~kernelwright.errors.StoreError` with a hint.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from kernelwright.errors import StoreError, scarce

_DAMAGED = "the file is damaged: bring it back from a copy, or use another with --store"
_HINTS = (
    ("not a database", "the file holds something else; choose another place with --store"),
    ("malformed", "the file is damaged: bring it back from a copy, or use another with --store"),
    (
        "no such table",
        "the file is damaged: bring it back from a copy, or use another with --store",
    ),
    ("no such column", "another version made the file; use another with --store"),
    ("unable to open", "check that the folder exists and may be written, or use --store"),
    ("readonly", "the place may not be written; choose another with --store"),
    ("disk is full", "free some space and resume the run: nothing committed is lost"),
    ("disk i/o", "check the disk and its free space; nothing committed is lost"),
    ("locked", "another process holds the store; wait for it, or use another with --store"),
)


def default_home() -> Path:
    """``$KERNELWRIGHT_HOME``, else ``$XDG_DATA_HOME/kernelwright``, else below ``~/.local``."""
    own = os.environ.get("KERNELWRIGHT_HOME")
    if own:
        return Path(own).expanduser()
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "kernelwright"


def default_url() -> str:
    """The store of this user: an SQLite file below :func:`default_home`."""
    return f"sqlite:///{default_home() / 'store.db'}"


def parse(place: str | None) -> URL:
    """A database URL from a URL, a file name or None (the default).

    Raises:
        StoreError: the text is no URL.
    """
    text = place or default_url()
    try:
        if "://" not in text:
            text = f"sqlite:///{Path(text).expanduser().absolute()}"
        url = make_url(text)
    except (ArgumentError, ValueError) as problem:
        raise StoreError(f"{text!r} is not the URL of a database") from problem
    except RuntimeError as problem:  # ~somebody who is nobody here
        raise StoreError(f"{text!r} is no place for a store: {problem}") from problem
    # One driver for PostgreSQL, whichever spelling a person knows.
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def file_of(url: URL) -> Path | None:
    """The file of an SQLite store; None in memory or on a server."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    return Path(str(url.database).removeprefix("file:")).absolute()


@contextmanager
def explained(url: URL) -> Iterator[None]:
    """Turn failures of the database or the file system into StoreError.

    Raises:
        StoreError: anything went wrong inside; what was open was rolled back.
    """
    place = url.render_as_string(hide_password=True)
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as problem:
        said = str(getattr(problem, "orig", None) or problem).strip()
        low = said.lower()
        hint = next((hint for word, hint in _HINTS if word in low), "")
        raise StoreError(f"the store {place} failed: {said}", hint=hint) from problem
    except UnicodeEncodeError as problem:
        raise StoreError(
            f"the store {place} takes no text with half a letter in it: {problem.object!r:.200}"
        ) from problem
    except OSError as problem:
        lacking = scarce(problem)
        raise StoreError(
            f"the store {place} cannot be used: {problem.strerror or problem}",
            hint=lacking.hint
            if lacking
            else "check that the folder exists and may be written, or use --store",
        ) from problem
