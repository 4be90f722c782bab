"""Whether a store could be written where it is asked for, found out without making one."""

import errno
import os
import tempfile
from pathlib import Path

from kernelwright.store import location, unwritable
from kernelwright.store.store import Store


def check_place(url: str | None = None) -> None:
    """See whether :meth:`Store.open` would give a store that can be written; nothing is made.

    A store on a server is not asked.

    Raises:
        StoreError: it would not.
    """
    where = location.parse(url)
    file = location.file_of(where)
    if file is None:
        return
    with location.explained(where):
        unwritable.refuse_special(file)
        _refuse_unwritable(file)
        if not unwritable.emptied(file):
            Store.open(url, writable=False).close()


def _refuse_unwritable(file: Path) -> None:
    if file.exists() and not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
    folder = file.parent
    while not folder.exists():
        folder = folder.parent
    with tempfile.TemporaryFile(dir=folder):  # where the system can, it never has a name
        pass
