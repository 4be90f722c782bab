"""What is fuzzed, and how one parser is tried: only refusals of our own may come out, in time."""

import random
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kernelwright.checks.finding import Rejected
from kernelwright.errors import KernelwrightError

SLOW_S = 2.0
"""Processor time that no input may take; the longest have 64 Ki letters."""
HANG_S = 60
MOST_PROBLEMS = 5
"""Kept of one parser: the others are counted."""


class Parser(NamedTuple):
    """A reader of untrusted input."""

    name: str
    make: Callable[[random.Random], Any]
    """An input from a source of randomness."""
    read: Callable[[Any], object]
    refusals: tuple[type[Exception], ...] = ()
    """What it documents beside the package's own errors; its callers turn them into those."""


@dataclass
class Tried:
    """How one parser did."""

    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    seconds: float = 0.0
    slowest_s: float = 0.0
    faults: int = 0
    problems: list[str] = field(default_factory=list)
    """The number of the input and what it did, for the first few."""

    def blame(self, number: int, what: str) -> None:
        """Count a fault and keep its description while there is room."""
        self.faults += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(f"input {number}: {what}")


def tried(parser: Parser, numbers: range, seed: int = 0) -> Tried:
    """Give a parser the inputs of those numbers; each depends on nothing but seed and number."""
    found = Tried()
    began = time.monotonic()
    for number in numbers:
        _one(parser, number, seed, found)
    found.seconds = time.monotonic() - began
    return found


def _one(parser: Parser, number: int, seed: int, found: Tried) -> None:
    given = parser.make(random.Random(f"{seed}/{parser.name}/{number}"))
    found.inputs += 1
    refusals: tuple[type[Exception], ...] = (KernelwrightError, Rejected, *parser.refusals)
    began = time.process_time()
    try:
        with _deadline():
            parser.read(given)
        found.accepted += 1
    except refusals:
        found.refused += 1
    except Exception as problem:  # noqa: BLE001 - whatever comes out is what is looked for
        last = traceback.extract_tb(problem.__traceback__)[-1]
        where = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
        said = f"{type(problem).__name__} at {where}: {str(problem)[:200]}"
        found.blame(number, said.encode("utf-8", "replace").decode())
    spent = time.process_time() - began
    found.slowest_s = max(found.slowest_s, spent)
    if spent > SLOW_S:
        found.blame(number, f"took {spent:.1f} s")


class Hung(Exception):
    """An input was still being read after a minute."""


@contextmanager
def _deadline() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Hung(f"still busy after {HANG_S} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, HANG_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
