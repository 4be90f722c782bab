"""Open an SQLite store that perhaps cannot be written: its file, its folder, or the whole disk.

SQLite wants to write beside a file even to read it, because others may be writing. Where that is
not allowed and nobody left anything unfinished, the file is read as one that does not change;
where somebody did, a private copy is read. Nothing here changes the store.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from kernelwright.errors import StoreError

Connect = Callable[[], sqlite3.Connection]


def ways(file: Path) -> Iterator[tuple[Connect | None, Path | None]]:
    """How a file may be opened, best first: what connects (None: as usual), and what to remove.

    None if there is no such file.

    Raises:
        StoreError: the file is empty, which none of ours is, or no regular file.
        OSError: the file cannot be read, or there is no room for a copy that is needed.
    """
    if not file.exists():
        return
    refuse_special(file)
    if emptied(file):
        raise StoreError(
            f"the store {file} is an empty file",
            hint="bring it back from a copy if runs were kept in it, or remove it and begin anew",
        )
    journal = _journal(file)
    yield None, None
    if not journal.exists() or journal.stat().st_size == 0:
        yield _unchanging(file), None
        return
    folder = Path(tempfile.mkdtemp(prefix=f"kernelwright-store-{os.getpid()}-"))
    for one in (file, journal):
        shutil.copyfile(one, folder / one.name.replace(file.name, "store.db"))
    yield lambda: sqlite3.connect(folder / "store.db", check_same_thread=False), folder


def refuse_special(file: Path) -> None:
    """Refuse a pipe, a device or a folder.

    Raises:
        StoreError: it is one.
    """
    if file.exists() and not file.is_file():
        raise StoreError(
            f"the store {file} is not a regular file",
            hint="choose another place with --store",
        )


def emptied(file: Path) -> bool:
    """Whether a file is there and holds nothing."""
    return file.exists() and file.stat().st_size == 0 and not _journal(file).exists()


def suits(file: Path, *, new: bool) -> bool:
    """Whether to write there: a store is there, or one may begin.

    Raises:
        StoreError: it is a pipe, a device or a folder.
    """
    refuse_special(file)
    return new or (file.exists() and not emptied(file))


def _journal(file: Path) -> Path:
    return file.with_name(file.name + "-wal")


def _unchanging(file: Path) -> Connect:
    place = f"file:{quote(str(file))}?immutable=1"
    return lambda: sqlite3.connect(place, uri=True, check_same_thread=False)
