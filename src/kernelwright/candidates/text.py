"""Source text of people and models: how long it may be, and how it is read.

Everything that is done with a source (its header, its fingerprint, the compiler, the wire) takes
time or room by its length, so what is too long is refused before any of that.
"""

import errno
import os
import stat
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import IO

MOST_BYTES = 1 << 20
"""Longest file of a kernel, a reference or a plain loop; the longest that we ship has 10 KiB."""


def too_long(source: str) -> str:
    """Why a source is refused for its length; empty if it is not."""
    size = len(source)
    if MOST_BYTES // 4 < size <= MOST_BYTES:
        size = len(source.encode(errors="replace"))
    return f"the source has more than {MOST_BYTES >> 20} MiB" if size > MOST_BYTES else ""


def stored_as_it_is(source: str) -> bool:
    """Whether a text can be written as UTF-8; one that was read from a file can."""
    try:
        source.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_text(path: Path | Traversable) -> str:
    """Text of a file, never more of it than is allowed.

    Raises:
        OSError: it cannot be read, is no regular file, or is too long.
        UnicodeDecodeError: it is not UTF-8.
    """
    with _opened(path) if isinstance(path, Path) else path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES >> 20} MiB")
    # As text is read elsewhere: every kind of line end becomes one.
    return data.decode().replace("\r\n", "\n").replace("\r", "\n")


def _opened(path: Path) -> IO[bytes]:
    """A regular file; a pipe or a device could keep who reads it for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "it is not a regular file")
