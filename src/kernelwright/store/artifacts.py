"""Large things by content: built libraries, reports, logs; files in a folder beside the store.

A file is complete or absent: it is written under another name, flushed and renamed. Refuses a
name that is not a SHA-256, so that no record can point outside the folder.
"""

import hashlib
import os
import re
import tempfile
from pathlib import Path

from kernelwright.errors import StoreError


class Artifacts:
    """A folder of files named by the SHA-256 of their content."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, digest: str) -> Path:
        """Where the artifact of that hash lies, present or not.

        Raises:
            StoreError: not a SHA-256 in lower-case hexadecimal.
        """
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise StoreError(f"{digest!r} is not the name of an artifact")
        return self.folder / digest[:2] / digest[2:]

    def put(self, content: bytes) -> str:
        """Keep the content; its hash. Keeping it twice is keeping it once.

        Raises:
            StoreError: it cannot be written; nothing is left behind.
        """
        digest = hashlib.sha256(content).hexdigest()
        target = self.path(digest)
        if target.exists():
            return digest
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, content)
        except OSError as problem:
            raise StoreError(
                f"an artifact cannot be written to {self.folder}: {problem.strerror or problem}",
                hint="free some space or choose another place with --store",
            ) from problem
        return digest

    def get(self, digest: str) -> bytes:
        """The content of that hash.

        Raises:
            StoreError: absent, or its content is not what the name says.
        """
        try:
            content = self.path(digest).read_bytes()
        except OSError as problem:
            raise StoreError(f"the artifact {digest} is missing from {self.folder}") from problem
        if hashlib.sha256(content).hexdigest() != digest:
            raise StoreError(f"the artifact {digest} is damaged")
        return content


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
        # mkstemp makes a private file; an artifact is as readable as the store beside it.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
