"""Where words go: data to standard output, everything else to standard error.

A stream that cannot take them is found out here, while something can still be said about it; what
it holds back is then dropped, or the interpreter would stumble over it when it ends.
"""

import contextlib
import os
import sys
from typing import TextIO

import click

from kernelwright.errors import PrerequisiteError


def prepare() -> None:
    """Fill the places of standard streams that are closed, or the next file would get one of them.

    Standard output stays closed to answers: :func:`data` says so.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 (for good)


def data(text: str) -> None:
    """Print an answer.

    Raises:
        PrerequisiteError: standard output cannot take it.
        BrokenPipeError: whoever read it has gone.
    """
    try:
        if sys.stdout is None:
            raise ValueError("it is closed")
        print(text, flush=True)  # noqa: T201 (the answer itself)
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as problem:
        raise unwritable(problem) from problem


def aside(line: str, *, colour: bool = False) -> None:
    """Print a line on standard error; where that is impossible, nobody can be told."""
    try:
        click.echo(line, err=True, color=colour)
    except (OSError, ValueError):
        abandon(sys.stderr)


def settle() -> None:
    """Let go of what is still held back.

    Raises:
        PrerequisiteError: standard output cannot take it.
        BrokenPipeError: whoever read it has gone.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as problem:
        raise unwritable(problem) from problem


def abandon(stream: TextIO | None) -> None:
    """Let the interpreter's last flush of a stream go nowhere, silently."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
        finally:
            os.close(nowhere)


def unwritable(problem: Exception) -> PrerequisiteError:
    """What to say of standard output; from now on, nothing is written there."""
    abandon(sys.stdout)
    what = getattr(problem, "strerror", None) or str(problem)
    return PrerequisiteError(
        f"standard output cannot be written: {what}",
        hint="send it elsewhere, or free some space; what a run found is in its store: "
        "kernelwright runs list",
    )
