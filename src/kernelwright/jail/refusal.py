"""Why a Python candidate is refused: a kind that the verifier turns into an outcome, and words.

What a candidate raises is its own text, made by its own code: it is cut, never interpreted.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LONGEST = 1500
FRAMES = 4


class Refusal(Exception):
    """Ends the judging of this candidate.

    Args:
        kind: known to the verifier, for example ``wrong_dtype``.
        text: one sentence.
        hint: what to do about it.
        details: the end of a traceback.
    """

    def __init__(self, kind: str, text: str, hint: str = "", details: str = "") -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.hint = hint
        self.details = details

    def answer(self) -> dict[str, Any]:
        """The refusal as a message."""
        return {
            "error": self.text[:LONGEST],
            "kind": self.kind,
            "hint": self.hint,
            "details": self.details[-LONGEST:],
        }


@contextmanager
def theirs(what: str) -> Iterator[None]:
    """Turn whatever the candidate raises, or its wish to exit, into a refusal; ``what`` did it.

    Raises:
        Refusal: it raised.
    """
    try:
        yield
    except (Refusal, MemoryError):
        raise
    except BaseException as problem:  # noqa: BLE001 - it is the candidate's
        raise _refusal(what, problem) from None


def _refusal(what: str, problem: BaseException) -> Refusal:
    name, text = type(problem).__name__, _text(problem)
    if isinstance(problem, ModuleNotFoundError):
        return Refusal("unavailable", f"{what} needs the module {problem.name!r}, which is missing")
    if isinstance(problem, RuntimeError) and "can't allocate memory" in text:
        return Refusal("out_of_memory", text)
    if isinstance(problem, SystemExit):
        return Refusal("raises", f"{what} tried to exit", "return, do not exit", _tail(problem))
    return Refusal("raises", f"{what} raised {name}: {text}".rstrip(": "), details=_tail(problem))


def _text(problem: BaseException) -> str:
    try:
        return str(problem).strip().partition("\n")[0][:LONGEST]
    except BaseException:  # noqa: BLE001 - its own __str__ may do anything
        return ""


def _tail(problem: BaseException) -> str:
    try:
        frames = traceback.extract_tb(problem.__traceback__)[1:]
        own = [frame for frame in frames if "/jail/" not in frame.filename][-FRAMES:]
        return "".join(traceback.format_list(own)).rstrip()
    except BaseException:  # noqa: BLE001 - the same
        return ""
