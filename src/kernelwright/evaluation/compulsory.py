"""What any right kernel must read, write and compute on one workload, as far as that can be shown.

Outputs are written whole, which the poison shows. An input counts where single elements of it, all
over, change an output of the reference: a table of which few rows are looked up, or a triangle
that is masked, does not. The oracle is asked only about a time that would be too good if all
inputs counted, so an honest kernel costs nothing here.
"""

import itertools
import math
from collections.abc import Mapping

import numpy as np

from kernelwright.checks.finding import Finding
from kernelwright.checks.plausibility import judge
from kernelwright.devices import roofline
from kernelwright.devices.measured import Peaks
from kernelwright.devices.roofline import Floor
from kernelwright.evaluation.answers import TRUTH_ONLY, Answers
from kernelwright.evaluation.arena import Array, numpy_dtype
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.expressions import evaluate
from kernelwright.records.task import Case, Shaped, Task

PROBES = 8
"""Elements of an input that must each change an output: if less than half of it mattered, all of
them would by luck in one case of 256."""
SPOTS = 32
"""Elements that are looked at for one that another draw has otherwise; few may differ."""
NOTHING = 1e-12
"""Share of the largest output below which a difference may be the reference's own rounding."""
FULL_RATE = ("float32", "float64")
"""Types in which the multiply-add rate that was measured is the highest there is."""


class Compulsory:
    """What is known of the workloads of one task.

    Args:
        answers: asked about inputs whose influence is in question.
        peaks: of the device.
    """

    def __init__(self, answers: Answers, peaks: Peaks) -> None:
        self._answers, self._peaks = answers, peaks
        self._bytes: dict[str, int] = {}

    def implausible(self, case: Case, time_us: float) -> Finding | None:
        """That no right kernel can take so little time, or None.

        Args:
            case: the workload.
            time_us: of one call.
        """
        operations = least_operations(self._answers.task, case)
        everything = bytes_of((*case.inputs, *case.outputs))
        if judge(time_us, everything, operations, self._peaks) is None:
            return None
        if case.workload not in self._bytes:
            needed = [item for item in case.inputs if self._matters(case, item)]
            self._bytes[case.workload] = bytes_of((*needed, *case.outputs))
        return judge(time_us, self._bytes[case.workload], operations, self._peaks)

    def _matters(self, case: Case, item: Shaped) -> bool:
        """Whether single elements, one in each part of an input, all change an output."""
        base = self._answers.base(case)
        other = self._answers.draw(case, self._answers.seed("matters", case.workload))[item.name]
        mine = base.contents[item.name]
        dice = np.random.default_rng(self._answers.seed("where", case.workload, item.name))
        for first, end in itertools.pairwise(
            mine.size * part // PROBES for part in range(PROBES + 1)
        ):
            if first == end:
                return False
            spots = dice.integers(first, end, SPOTS)
            places = (np.unravel_index(spot, mine.shape) for spot in spots)
            at = next((place for place in places if mine[place] != other[place]), None)
            if at is None:
                return False
            changed = mine.copy()
            changed[at] = other[at]
            if not self._changes(case, {**base.contents, item.name: changed}):
                return False
        return True

    def _changes(self, case: Case, contents: Mapping[str, Array]) -> bool:
        try:
            found = self._answers.oracle.truth(case, contents, TRUTH_ONLY)["truth"]
        except ReferenceFailure as failure:
            if not failure.undefined:
                raise
            return False
        known = self._answers.base(case).answers
        return any(_differ(found[one.name], one.truth) for one in known)


def bytes_of(tensors: tuple[Shaped, ...]) -> int:
    """Each element once."""
    return sum(math.prod(item.shape) * numpy_dtype(item.dtype).itemsize for item in tensors)


def floor(task: Task, case: Case, peaks: Peaks) -> Floor:
    """The roofline floor of one workload, by the operations of the obvious algorithm."""
    operations = evaluate(task.work.flops, case.axes) if task.work.flops else 0.0
    return roofline.floor(bytes_of(case.inputs), bytes_of(case.outputs), operations, peaks)


def least_operations(task: Task, case: Case) -> float:
    """The minimum that the task declares to be proven; 0 without one, or in faster types."""
    types = {item.dtype for item in (*case.inputs, *case.outputs)}
    if task.work.min_flops is None or task.precision or not types <= set(FULL_RATE):
        return 0.0
    return evaluate(task.work.min_flops, case.axes)


def _differ(found: Array, truth: Array) -> bool:
    """Whether two answers of the reference differ by more than its rounding."""
    finite = np.abs(truth[np.isfinite(truth)]) if truth.dtype.kind == "f" else np.abs(truth)
    close = NOTHING * float(finite.max(initial=0)) if truth.dtype.kind == "f" else 0.0
    return not np.allclose(found, truth, rtol=0.0, atol=close, equal_nan=True)
