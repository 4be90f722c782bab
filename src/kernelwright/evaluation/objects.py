"""Whose code a process has mapped: files, told apart by where they lie.

From outside, so that no candidate can leave one out. What was mapped and unmapped within a call is
not seen.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from kernelwright.sandbox import python

RUNTIME = frozenset(
    [
        "ld-linux",
        "ld-linux-x86-64",
        "ld-linux-aarch64",
        "libatomic",
        "libc",
        "libc++",
        "libc++abi",
        "libdl",
        "libgcc_s",
        "libgfortran",
        "libgomp",
        "libiomp5",
        "libm",
        "libmvec",
        "libomp",
        "libpthread",
        "libquadmath",
        "librt",
        "libstdc++",
    ]
)
"""What belongs to the language: its library, its threads, its arithmetic."""
INTERPRETER = tuple({f"{python.of_base(kind)}/lib-dynload/" for kind in ("stdlib", "platstdlib")})
"""Modules of Python's own, which it may load late. Not the installed packages beside them: these
bring libraries of linear algebra."""
WRITABLE = ("/dev/", "/memfd:", "/proc/", "/run/", "/SYSV", "/tmp/", "/var/tmp/")  # noqa: S108
"""Where a process can put code of its own; the first parts of paths."""


def library_name(path: str) -> str:
    """A library's name without its folder and version: ``libopenblas``."""
    return PurePosixPath(path).name.partition(".so")[0]


@dataclass(frozen=True)
class Mapped:
    """One stretch of code."""

    start: int
    end: int
    path: str
    """Empty: memory that is no file's."""

    @property
    def name(self) -> str:
        """Of the library, without its version: ``libopenblas``."""
        return library_name(self.path)

    def made_in(self, folder: str) -> bool:
        """Whether a process that can write in ``folder`` can have made it."""
        if self.path.startswith(INTERPRETER):
            return False
        return self.path.startswith((f"{folder}/", *WRITABLE)) or self.path.endswith(" (deleted)")


def executable(listing: str) -> list[Mapped]:
    """The stretches of a listing in ``/proc/PID/maps`` that can be executed."""
    found = []
    for line in listing.splitlines():
        place, rights, *rest = line.split(maxsplit=5)
        if "x" in rights:
            start, _, end = place.partition("-")
            path = rest[3] if len(rest) > 3 else ""
            found.append(Mapped(int(start, 16), int(end, 16), path))
    return found


def files(mapped: Iterable[Mapped]) -> dict[str, Mapped]:
    """Those of files, by path."""
    return {one.path: one for one in mapped if "/" in one.path}


def holder(mapped: Iterable[Mapped], address: int) -> Mapped | None:
    """The stretch that holds an address."""
    return next((one for one in mapped if one.start <= address < one.end), None)
