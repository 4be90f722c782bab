"""Files that are complete or absent, also after a crash."""

import os
import tempfile
from pathlib import Path


def write_atomically(target: Path, content: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old or the new one, never a part.

    Raises:
        OSError: it cannot be written; the old file, if any, is untouched.
    """
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".writing-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes a private file; it shall be as readable as the store beside it.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
