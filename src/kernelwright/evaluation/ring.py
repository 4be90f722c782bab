"""Argument sets in shared memory: inputs that both sides read, outputs that one side writes.

For timing, candidate and rival read the *same* inputs, sealed so that only the verifier can
write them: two copies in different physical pages would favour one side by several per cent, more
than many kernels differ. For correctness a private, writable copy shows who scribbles on inputs.
"""

import itertools
import math
from typing import Any, Protocol

from kernelwright.checks.finding import Finding
from kernelwright.evaluation.arena import Arena, Array
from kernelwright.evaluation.block import MOST_CALLS
from kernelwright.evaluation.ring_inputs import Inputs
from kernelwright.evaluation.sets import Sets
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Case
from kernelwright.tasks import contract

POISONS = (0xFF, 0x5A)
"""Bytes with which outputs are filled: the first is NaN in every floating type."""
PIECE = 64
SMALL = 1 << 18
"""Elements of an argument set of which there may be several for correctness."""

_numbers = itertools.count()


class Ring:
    """What one worker is bound to: inputs, perhaps shared with another, and its own outputs.

    Args:
        read: the inputs.
    """

    def __init__(self, read: Inputs) -> None:
        self.case = read.case
        self.slots = read.slots
        self.inputs = read
        self.number = next(_numbers)
        """Differs from that of every other ring, also of one that is gone."""
        self.outputs = Sets(self.case.outputs, self.slots, self.case.alignment, sealed=False)
        self.poisons = [POISONS[0]] * self.slots

    @classmethod
    def private(
        cls, case: Case, *, sealed: bool = False, fenced: bool | None = None, rows: bool = False
    ) -> "Ring":
        """Argument sets with inputs of their own, for correctness.

        Args:
            case: whose arguments.
            sealed: inputs cannot be written, as when they are timed; otherwise it shows who does.
            fenced: whoever reads past the end of an input crashes; None: where they are sealed.
            rows: as many sets as a timed block may have, where they are small; otherwise one.
        """
        fenced = sealed if fenced is None else fenced
        elements = sum(math.prod(one.shape) for one in (*case.inputs, *case.outputs))
        slots = MOST_CALLS if rows and elements <= SMALL else 1
        return cls(Inputs(case, slots, sealed=sealed, fenced=fenced))

    @property
    def nbytes(self) -> int:
        """Memory of one argument set."""
        return (self.inputs.sets.arena.nbytes + self.outputs.arena.nbytes) // self.slots

    def arenas(self) -> dict[str, Arena]:
        """What a worker must map, by the names used in :meth:`arguments`."""
        return {"inputs": self.inputs.sets.arena, "outputs": self.outputs.arena}

    def output(self, slot: int, name: str) -> Array:
        """One output as the worker left it, in shared memory."""
        return self.outputs.view(slot, name)

    def poison(self, slot: int, pattern: int) -> None:
        """Fill one slot's outputs, so that what was never written is seen."""
        self.poisons[slot] = pattern
        for place in self.outputs.layouts[slot].tensors:
            self.outputs.raw(place)[:] = pattern

    def trespass(self, slot: int) -> Finding | None:
        """The first write outside the outputs: into a guard zone or an input."""
        return self.outputs.beside(slot) or self._between(slot) or self.inputs.changed()

    def untouched(self, slot: int) -> bool:
        """Whether a slot's outputs hold nothing but their poison."""
        pattern = self.poisons[slot]
        places = self.outputs.layouts[slot].tensors
        return all(bool((self.outputs.raw(place) == pattern).all()) for place in places)

    def seems_untouched(self, slot: int, where: float) -> bool:
        """The same of a piece of each output, which costs nothing: that it may be so.

        Args:
            slot: whose outputs.
            where: place of the piece, from 0 to 1.
        """
        pieces = self._pieces(slot, where)
        return all(bool((piece == self.poisons[slot]).all()) for piece in pieces)

    def piece(self, slot: int, where: float) -> bytes:
        """A piece of each output, by which two results can be told apart without reading them.

        Args:
            slot: whose outputs.
            where: place of the piece, from 0 to 1.
        """
        return b"".join(self._pieces(slot, where))

    def _pieces(self, slot: int, where: float) -> list[Any]:
        pieces = []
        for place in self.outputs.layouts[slot].tensors:
            raw = self.outputs.raw(place)
            start = int(where * max(raw.size - PIECE, 0))
            pieces.append(raw[start : start + PIECE])
        return pieces

    def _between(self, slot: int) -> Finding | None:
        """The first output written between its elements."""
        for place in self.outputs.layouts[slot].tensors:
            touched = int((self.outputs.gaps(place) != self.poisons[slot]).sum())
            if touched:
                reason = f"{touched} bytes between the elements of {place.name} were overwritten"
                evidence = {"tensor": place.name, "bytes": touched}
                return Finding(Outcome.OUT_OF_BOUNDS, reason, evidence)
        return None

    def arguments(self) -> list[list[dict[str, Any]]]:
        """What a worker needs to prepare the calls of all slots."""
        return [self._arguments(slot) for slot in range(self.slots)]

    def _arguments(self, slot: int) -> list[dict[str, Any]]:
        wire: list[dict[str, Any]] = []
        for item in contract.arguments(self.case):
            if item.tensor is not None:
                mine = any(one.name == item.tensor.name for one in self.case.outputs)
                sets, arena = (self.outputs, "outputs") if mine else (self.inputs.sets, "inputs")
                place = sets.place(slot, item.tensor.name)
                if item.kind == "strides":
                    wire.append({"t": "strides", "values": list(place.strides)})
                    continue
                where = {"arena": arena, "place": place.to_json(), "role": item.role}
                wire.append({"t": "tensor", **where})
            elif item.kind == "scalar":
                dtype = "float32" if item.dtype in contract.NARROW else item.dtype
                wire.append({"t": "scalar", "dtype": dtype, "value": item.value})
            else:
                wire.append({"t": "axis", "value": item.value})
        return wire

    def close(self) -> None:
        """Give the outputs' memory back; inputs belong to whoever made them."""
        self.outputs.arena.close()


class Rings(Protocol):
    """Gives the buffers of one workload, the same ones whenever it is asked."""

    def __call__(self, case: Case, *, sealed: bool = False) -> Ring:
        """Those whose inputs can be written, or those whose cannot."""
