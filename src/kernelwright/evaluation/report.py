"""What a worker reports of a block of calls: bytes, so that reporting takes next to no time.

``token``, then nanoseconds of each call (int64), then return codes (int32). A token of zeros says
that there is nothing to report; a message with the reason follows.
"""

import array
from dataclasses import dataclass
from typing import Any

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.records.outcome import Outcome

TOKEN = 8
_NS, _CODE = 8, 4
_OUTCOMES = {
    "missing_symbol": Outcome.SIGNATURE_ERROR,
    "signature": Outcome.SIGNATURE_ERROR,
    "load_failed": Outcome.BUILD_ERROR,
    "out_of_memory": Outcome.OUT_OF_MEMORY,
    "missing_torch": Outcome.UNSUPPORTED,
    "unavailable": Outcome.UNSUPPORTED,
    "wrong_shape": Outcome.WRONG_SHAPE,
    "wrong_dtype": Outcome.WRONG_DTYPE,
    "state_mutated": Outcome.STATE_MUTATED,
    "aliased_output": Outcome.ALIASED_OUTPUT,
    "deferred_work": Outcome.DEFERRED_WORK,
    "tampering": Outcome.TAMPERING,
}
"""What a worker's refusal means, by the kind that it gives; any other is a runtime error."""


@dataclass(frozen=True)
class Ran:
    """What a worker claims of one block of calls, and what the verifier saw of it."""

    ns: tuple[int, ...]
    """The worker's own nanoseconds, call by call: a claim."""
    wall_ns: int
    """From the word to holding the report, by the verifier's clock."""
    cpu_ns: int = 0
    """Processor time of all threads of the worker during the block, by the kernel's account."""
    idle_ns: int = 0
    """Processor time that it used while it was to wait for the word."""
    earlier_ns: int = 0
    """Processor time of the block before, and until this one was asked for; 0 if it was asked for
    something else meanwhile."""


def size(calls: int) -> int:
    """Bytes of a report of so many calls."""
    return TOKEN + (_NS + _CODE) * calls


def parse(told: bytes, token: bytes, calls: int) -> tuple[list[int], list[int]] | None:
    """Nanoseconds and codes, or None if it is not the report that was asked for."""
    if told[:TOKEN] != token or len(told) != size(calls):
        return None
    middle = TOKEN + _NS * calls
    return array.array("q", told[TOKEN:middle]).tolist(), array.array("i", told[middle:]).tolist()


def believable(label: str, ns: list[int], codes: list[int], wall_ns: int) -> tuple[int, ...]:
    """The nanoseconds of a report, if they can be and every call went well.

    Args:
        label: who reports.
        ns: of each call.
        codes: that it returned.
        wall_ns: what the verifier saw of all of them.

    Raises:
        Rejected: a code is not 0, or the calls together take longer than was seen.
    """
    failed = [code for code in codes if code != 0]
    if failed:
        reason = f"{label} returned error code {failed[0]}"
        raise Rejected(Finding(Outcome.RUNTIME_ERROR, reason, {"code": failed[0]}))
    if min(ns) <= 0 or sum(ns) > wall_ns:
        reason = f"{label} claims {sum(ns)} ns for calls seen to last {wall_ns} ns"
        raise Rejected(Finding(Outcome.CLOCK_DISAGREEMENT, reason))
    return tuple(ns)


def is_fault(told: bytes) -> bool:
    """Whether it says that there is nothing to report."""
    return told[:TOKEN] == bytes(TOKEN)


def refusal(label: str, answer: dict[str, Any]) -> Finding:
    """What an answer with an error in it means.

    Args:
        label: who answered.
        answer: untrusted.
    """
    kind, text = _plain(answer.get("kind", "")), _plain(answer.get("error", ""))
    evidence = {"kind": kind}
    evidence |= {name: _plain(answer[name]) for name in ("hint", "details") if answer.get(name)}
    return Finding(_OUTCOMES.get(kind, Outcome.RUNTIME_ERROR), f"{label}: {text}", evidence)


def _plain(text: object) -> str:
    """Untrusted text that can be stored and printed: no lone surrogates, not too long."""
    return str(text)[:2000].encode("utf-8", "replace").decode()
