"""Why a process crashed on inputs that cannot be written and have fences behind them.

The same call is made again in a fresh process, with one hindrance more each time.
"""

import signal
from collections.abc import Callable, Mapping
from typing import Protocol

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.arena import Array
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.ring import POISONS, Ring
from kernelwright.evaluation.worker import Worker
from kernelwright.records.outcome import Outcome


class Suspect(Protocol):
    """The part of a trial that is needed to ask again."""

    worker: Worker
    settle: Callable[[], Worker] | None

    def move(self, worker: Worker) -> None:
        """Go on in another process."""

    def call(self, ring: Ring, contents: Mapping[str, Array], pattern: int) -> None:
        """Call once; raises Rejected if the call fails."""

    def discard(self, ring: Ring) -> None:
        """Give a ring back."""


def by_access(finding: Finding) -> bool:
    """Whether a process died of touching memory that it must not touch."""
    return finding.evidence.get("exit_code") in (-signal.SIGSEGV, -signal.SIGBUS)


def cause(suspect: Suspect, question: Question) -> Finding | None:
    """What the call did that only hindrances show: write to an input, or read past its end.

    Args:
        suspect: whose process crashed.
        question: on what.

    Returns:
        None if it crashes anyway, or that cannot be found out.
    """
    if suspect.settle is None:
        return None
    try:
        suspect.move(suspect.settle())
        _once(suspect, question, sealed=False, fenced=False)
    except Rejected as rejection:
        found = rejection.finding
        return found if found.outcome in (Outcome.INPUT_MUTATED, Outcome.OUT_OF_BOUNDS) else None
    try:
        _once(suspect, question, sealed=True, fenced=False)
    except Rejected as rejection:
        return _instead(rejection, Outcome.INPUT_MUTATED, "where its inputs could not be written")
    try:
        _once(suspect, question, sealed=True, fenced=True)
    except Rejected as rejection:
        return _instead(
            rejection,
            Outcome.OUT_OF_BOUNDS,
            "reading past the end of an input, where a page that cannot be read follows",
        )
    return None


def _instead(rejection: Rejected, outcome: Outcome, words: str) -> Finding | None:
    found = rejection.finding
    return (
        Finding(outcome, f"{found.reason}, {words}", found.evidence) if by_access(found) else None
    )


def _once(suspect: Suspect, question: Question, *, sealed: bool, fenced: bool) -> None:
    ring = Ring.private(question.case, sealed=sealed, fenced=fenced)
    try:
        suspect.call(ring, question.contents, POISONS[0])
    finally:
        suspect.discard(ring)
