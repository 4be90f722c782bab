"""What can be wrong with a reference, as a kind and a sentence for the user.

A fault is about the user's code; a bug of ours stays an ordinary exception.
"""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

KINDS = (
    "raises", "count", "shape", "dtype", "nan", "random", "writes", "process", "missing_torch",
    "missing", "inputs", "entry", "package", "unavailable", "memory",
)  # fmt: skip
NO_MEMORY = "allocate memory"
"""What the framework's error says, which is an ordinary one, where the memory is used up."""


MODULE = "kernelwright_reference"
"""Name of the module that a reference makes."""


class Fault(Exception):
    """The reference does not work.

    Args:
        kind: one of :data:`KINDS`.
        text: one sentence.
        details: the last lines of the user's traceback.
        hint: what to do, where the kind alone does not tell.
    """

    def __init__(self, kind: str, text: str, details: str = "", hint: str = "") -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.details = details
        self.hint = hint

    def answer(self) -> dict[str, Any]:
        """The fault as a message."""
        known = {"error": self.text, "kind": self.kind, "details": self.details}
        return known | {"hint": self.hint} if self.hint else known


@contextmanager
def user_code(what: str) -> Iterator[None]:
    """Turn whatever the user's code raises into a fault; ``what`` failed.

    A process that the code forked ends here: two must not answer one request.

    Raises:
        Fault: the code raised, or tried to exit.
    """
    own = os.getpid()
    try:
        yield
    except Fault:
        raise
    except ModuleNotFoundError as problem:
        missing = (problem.name or "").partition(".")[0]
        kind = "missing_torch" if missing == "torch" else "missing"
        raise Fault(kind, f"{what} needs the package {missing!r}", _tail(problem)) from problem
    except (Exception, SystemExit, KeyboardInterrupt) as problem:  # noqa: BLE001 - it is the user's
        if isinstance(problem, MemoryError) or NO_MEMORY in str(problem):
            raise Fault("memory", f"{what} used up the memory", _tail(problem)) from None
        text = str(problem).strip().partition("\n")[0][:300]
        said = f"{_place(problem)}{what} raised {type(problem).__name__}: {text}".rstrip(": ")
        raise Fault("raises", said, _tail(problem)) from None
    finally:
        if os.getpid() != own:
            os._exit(0)


def import_torch() -> Any:
    """The framework.

    Raises:
        Fault: it is not installed.
    """
    try:
        import torch
    except ModuleNotFoundError as problem:
        raise Fault("missing_torch", "the reference needs torch, which is missing") from problem
    return torch


def _place(problem: BaseException) -> str:
    """The last line of the reference that ran, to begin a sentence with."""
    path = getattr(sys.modules.get(MODULE), "__file__", None)
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == path]
    return f"{Path(path).name}:{lines[-1]}: " if path and lines else ""


def _tail(problem: BaseException) -> str:
    """The last lines of the traceback, frames of this package left out."""
    frames = [
        frame
        for frame in traceback.extract_tb(problem.__traceback__)
        if "kernelwright/evaluation" not in frame.filename and "importlib" not in frame.filename
    ]
    lines = traceback.format_list(frames[-4:]) + traceback.format_exception_only(problem)
    return "".join(lines)[-2000:].rstrip()
