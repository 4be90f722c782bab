"""Inputs in shared memory: sets of one case, filled alike, or each with fresh contents."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kernelwright.checks.finding import Finding
from kernelwright.evaluation.arena import Array
from kernelwright.evaluation.sets import Sets
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Case, Shaped
from kernelwright.tasks.draws import Draws
from kernelwright.tasks.fresh import Fresh


class Inputs:
    """``slots`` sets of inputs of one case, with fresh contents for every block.

    Args:
        case: whose inputs.
        slots: how many sets.
        sealed: nobody else can write them; otherwise a private copy tells who did.
        fenced: whoever reads past the end of one crashes.
        draws: of inputs that the task's own code makes; None: all are made from the base.
    """

    def __init__(
        self,
        case: Case,
        slots: int,
        *,
        sealed: bool,
        fenced: bool = False,
        draws: Draws | None = None,
    ) -> None:
        self.case, self.slots = case, slots
        self.sets = Sets(case.inputs, slots, case.alignment, sealed=sealed, fenced=fenced)
        self.sealed = sealed
        self.block, self._draws = -1, draws
        self._kept: dict[str, Array] = {}
        self._between: dict[str, NDArray[np.uint8]] = {}
        self._fresh: Fresh | None = None

    def fill(self, contents: Mapping[str, Array]) -> None:
        """Put ``contents`` into every set, unless they are there, and other bytes around them."""
        same = all(self._kept.get(name) is one for name, one in contents.items())
        there = self.sealed and self.block < 0 and same
        for slot in range(self.slots) if not there else ():
            for item in self.case.inputs:
                self.sets.view(slot, item.name)[...] = contents[item.name]
        self.sets.surround()
        self._kept = dict(contents)
        self._between = {item.name: self._gap_bytes(item) for item in self.case.inputs}
        self.block = -1

    def freshen(
        self, block: int, base: Mapping[str, Array], secret: int, *, sparse: bool = False
    ) -> None:
        """Contents for block ``block``, the same for whoever asks; changes only a new block.

        Args:
            block: which; ascending.
            base: what contents are made from.
            secret: seed.
            sparse: change few elements of the block before, instead of all.
        """
        if self.block == block:
            return
        self.block = block
        fresh = self._made_fresh(base, secret)
        for slot in range(self.slots):
            change = fresh.touch if sparse else fresh.write
            change(self._views(slot), np.random.default_rng((secret, block, slot)))
        self.sets.surround()

    def fill_one(
        self, slot: int, contents: Mapping[str, Array], base: Mapping[str, Array], secret: int
    ) -> None:
        """Put ``contents`` into one set, and fresh ones into all others, as in a block.

        Args:
            slot: of the one; the sets are sealed.
            contents: what it gets.
            base: what the others are made from.
            secret: seed.
        """
        fresh = self._made_fresh(base, secret)
        for other in range(self.slots):
            views = self._views(other)
            if other == slot:
                for name, view in views.items():
                    view[...] = contents[name]
            else:
                fresh.write(views, np.random.default_rng((secret, other)))
        self.sets.surround()
        self._kept, self.block = {}, -1

    def _made_fresh(self, base: Mapping[str, Array], secret: int) -> Fresh:
        if self._fresh is None:
            self._fresh = Fresh(self.case, base, secret, self._draws)
        return self._fresh

    def _views(self, slot: int) -> dict[str, Array]:
        return {item.name: self.sets.view(slot, item.name) for item in self.case.inputs}

    def contents(self, slot: int) -> dict[str, Array]:
        """One set as the verifier knows it: shared memory only where it is sealed."""
        if not self.sealed:
            return self._kept
        return self._views(slot)

    def changed(self) -> Finding | None:
        """The first input of an unsealed set that is no longer what was put there."""
        for item in self.case.inputs if not self.sealed else ():
            if not _same(self.sets.view(0, item.name), self._kept[item.name]):
                reason = f"input {item.name} was changed"
                return Finding(Outcome.INPUT_MUTATED, reason, {"tensor": item.name})
            if not np.array_equal(self._between[item.name], self._gap_bytes(item)):
                reason = f"input {item.name} was written between its elements"
                return Finding(Outcome.INPUT_MUTATED, reason, {"tensor": item.name})
        return self.sets.beside(0) if not self.sealed else None

    def _gap_bytes(self, item: Shaped) -> NDArray[np.uint8]:
        return self.sets.gaps(self.sets.place(0, item.name))

    def close(self) -> None:
        """Give the shared memory back."""
        self.sets.arena.close()


def _same(left: Array, right: Array) -> bool:
    """Equality of bits: NaN equals itself, and -0.0 differs from 0.0."""
    left, right = np.ascontiguousarray(left).reshape(-1), right.reshape(-1)
    word = np.uint64 if left.nbytes % 8 == 0 else np.uint8
    return bool(np.array_equal(left.view(word), right.view(word)))
