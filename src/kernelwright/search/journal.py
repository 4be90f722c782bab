"""Writes what the scheduler decides, and checks what it decided before.

A resumed or replayed run decides everything again. Whatever the store already holds must come
out the same, item by item; only what goes beyond is written. Refuses to go on from a difference:
a search that cannot repeat its past must not continue it.
"""

from collections.abc import Iterable
from json import dumps
from typing import Any

from kernelwright.records.run import Run
from kernelwright.store.step import Claim, Event, Step, StoredEvaluation
from kernelwright.store.store import Store
from kernelwright.store.writer import Writer

NO_DECISIONS = ("audited", "interrupted")
"""Kinds of events that nobody decided."""


class DifferenceError(Exception):
    """A decision came out other than stored; its text says which."""


class Journal:
    """The past of one run to compare with, and a writer for its future."""

    def __init__(self, store: Store, run: Run) -> None:
        self.writer: Writer | None = None
        """Who writes what is new; while there is none, nothing may be new."""
        own = len(run.spec.start)
        self._past: dict[str, list[str]] = {
            "candidates": [candidate.id for candidate in store.candidates(run.id)[own:]],
            "claims": [_claim(claim) for claim in store.claims(run.id)],
            "evaluations": [_evaluation(stored) for stored in store.evaluations(run.id)],
            "posts": [post.to_json() for post in store.posts(run.id)],
            "events": _events(store.events(run.id)),
        }
        self._at = dict.fromkeys(self._past, 0)

    @property
    def compared(self) -> int:
        """Stored items that came out the same so far."""
        return sum(self._at.values())

    def commit(self, run: Run, step: Step) -> bool:
        """Check or write one step; whether it was new.

        Raises:
            DifferenceError: it is not what the store holds.
            StoreError: it could not be written.
        """
        # Texts of a step are made only while there is something to compare them with.
        items = {} if self._is_over() and self.writer else _items(step)
        known = bool(items) and self._known(items)
        if not known:
            if self.writer is None:
                raise DifferenceError(f"a step that is not stored: {_describe(items)}")
            self.writer.commit(run, step, release=run.status != "running")
        return not known

    def finish(self) -> None:
        """The past must be used up. Raises DifferenceError naming the first item that is left."""
        for kind, past in self._past.items():
            if self._at[kind] < len(past):
                raise DifferenceError(f"not decided again, {kind}: {past[self._at[kind]]}")

    def _is_over(self) -> bool:
        return all(self._at[kind] == len(past) for kind, past in self._past.items())

    def _known(self, items: dict[str, list[str]]) -> bool:
        """Whether the step is stored; steps are atomic, so one is stored whole or not at all."""
        answers = set()
        for kind, texts in items.items():
            past = self._past[kind]
            for text in texts:
                at = self._at[kind]
                answers.add(at < len(past))
                if at < len(past):
                    if past[at] != text:
                        raise DifferenceError(f"{kind} {at + 1}: stored {past[at]}, now {text}")
                    self._at[kind] += 1
        if len(answers) > 1:
            raise DifferenceError(f"a step that is stored in part: {_describe(items)}")
        return True in answers or not answers


def _items(step: Step) -> dict[str, list[str]]:
    return {
        "candidates": [candidate.id for candidate in step.candidates],
        "claims": [_claim(claim) for claim in step.claims],
        "evaluations": [_evaluation(stored) for stored in step.evaluations],
        "posts": [post.to_json() for post in step.posts],
        "events": _events(step.events),
    }


def _claim(claim: Claim) -> str:
    return f"job {claim.number}: {claim.candidate} at {claim.rung.word}"


def _evaluation(stored: StoredEvaluation) -> str:
    found = stored.evaluation
    text = f"{stored.sequence}: job {stored.number}: {found.candidate} at {found.rung.word}"
    return f"{text} {found.outcome.value} {found.copied_from}".rstrip()


def _events(events: Iterable[Event]) -> list[str]:
    return [
        f"{event.kind} {dumps(_decided(event), sort_keys=True)}"
        for event in events
        if event.kind not in NO_DECISIONS
    ]


def _decided(event: Event) -> dict[str, Any]:
    """An event without what another version may put in other words."""
    kept = event.kind != "stopped"
    return {name: value for name, value in event.data.items() if kept or name != "reason"}


def _describe(items: dict[str, list[str]]) -> str:
    return "; ".join(f"{kind} {texts[0]}" for kind, texts in items.items() if texts)[:300]
