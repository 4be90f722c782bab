"""Whether a task's own comparison can tell right from wrong, decided from what was seen.

A control that is wrong and yet accepted makes the task *insensitive*. First the tolerance is
tightened, as far as honest evaluations still pass; if that does not help, the task is refused:
nothing that is scored on it would mean anything.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from kernelwright.checks.answer import Answer
from kernelwright.checks.correctness import share
from kernelwright.checks.distance import Errors
from kernelwright.checks.finding import Finding
from kernelwright.errors import TaskError
from kernelwright.records.outcome import Outcome
from kernelwright.records.sensitivity import Control, Sensed, Sensitivity
from kernelwright.records.task import Tolerance

SEEDS_APART = 10.0
"""Tolerances by which the answers of two seeds must differ."""
SAME_INPUTS = "same inputs"
"""Note of a control of answers for two seeds."""
_OWN_SEED = (
    "a generator with a seed of its own draws them: use numpy's or the framework's global one, "
    "which the judge seeds"
)
_LOOSE = (
    "give the inputs values at which the output varies by more than the tolerance, "
    "or lower k of [tolerance]"
)
HINTS = {
    "another_seed": "let the output depend on what is drawn: return what comes before the step "
    "that makes it constant, or widen the values of the inputs",
    "perturbed": "give it values that matter, draw it at random, or drop it",
    "pattern": "draw the whole of it, or pass only the part that varies",
    "rounded": "use values or sizes at which honest sums err less, name a wider type to sum in "
    "(accumulate), or allow the lower type in precision",
    "undecided": "return what comes before it is rounded or compared, draw values further from "
    "where it turns, or allow no lower type in precision",
}


class InsensitiveTask(TaskError):
    """The task's own comparison would accept a wrong answer.

    Args:
        found: which, and what to do.
    """

    def __init__(self, found: Sensitivity) -> None:
        super().__init__(found.reason, hint=found.hint)
        self.found = found

    def finding(self) -> Finding:
        """The same as a verdict on any candidate."""
        controls = [
            {"workload": workload, "control": one.name, "of": one.of, "tolerances": one.tolerances}
            for workload, one in self.found.accepted
        ]
        evidence = {"hint": self.found.hint, "controls": controls}
        return Finding(Outcome.INSENSITIVE_TASK, self.found.reason, evidence)


Seen = tuple[Errors, Answer]
"""How far a control was from an answer."""


@dataclass
class Row:
    """A control and how far it was, wherever it was tried."""

    name: str
    of: str
    note: str = ""
    tries: list[list[Seen]] = field(default_factory=list)
    """Each try must be rejected, by any of what was seen in it; a try without anything seen
    cannot be."""
    right: bool = False
    """It is meant to pass."""
    tried: bool = True

    def tolerances(self, tolerance: Tolerance) -> float:
        """How many tolerances it is off where it is off least."""
        return min(
            max((share(errors, answer, tolerance) for errors, answer in one), default=0.0)
            for one in self.tries
        )

    def accepted(self, tolerance: Tolerance) -> bool:
        """Whether the comparison takes it for right although it is wrong."""
        needed = SEEDS_APART if self.name == "another_seed" else 1.0
        if self.right or not self.tries:
            return False
        return not self.tolerances(tolerance) > needed

    def record(self, tolerance: Tolerance) -> Control:
        """The row as it is kept."""
        if not self.tried:
            return Control(name=self.name, of=self.of, note=self.note, verdict="not_tried")
        if self.right or not self.tries:
            return Control(name=self.name, of=self.of, note=self.note, verdict="right")
        off = self.tolerances(tolerance)
        return Control(
            name=self.name,
            of=self.of,
            note=self.note,
            verdict="accepted" if self.accepted(tolerance) else "rejected",
            tolerances=float(f"{off:.4g}") if math.isfinite(off) else None,
        )


@dataclass
class Examined:
    """The rows of one workload."""

    workload: str
    rows: list[Row]
    seconds: float


def decide(
    task: str,
    tolerance: Tolerance,
    examined: Sequence[Examined],
    honest: Callable[[Tolerance], bool],
) -> Sensitivity:
    """The verdict on a task.

    Args:
        task: its name.
        tolerance: its own.
        examined: the controls at one workload or more.
        honest: whether honest evaluations pass on contents of other seeds; asked only when the
            tolerance must be tightened.
    """
    chosen, tightened = tolerance, None
    if _accepting(examined, tolerance):
        for tighter in _tighter(tolerance):
            if not _accepting(examined, tighter):
                if honest(tighter):
                    chosen, tightened = tighter, tolerance
                break
    workloads = tuple(
        Sensed(
            workload=one.workload,
            controls=tuple(row.record(chosen) for row in one.rows),
            seconds=round(one.seconds, 4),
        )
        for one in examined
    )
    found = Sensitivity(workloads=workloads, tolerance=chosen, tightened_from=tightened)
    if not found.accepted:
        return found
    workload, control = found.accepted[0]
    reason = f"task {task} cannot be scored: at {workload} {_sentence(control)}"
    own = control.note == SAME_INPUTS
    hint = _OWN_SEED if own else HINTS.get(control.name, _LOOSE)
    return found.model_copy(update={"reason": reason, "hint": hint})


def _accepting(examined: Sequence[Examined], tolerance: Tolerance) -> bool:
    return any(row.accepted(tolerance) for one in examined for row in one.rows)


def _tighter(tolerance: Tolerance) -> Iterator[Tolerance]:
    """Half of k and again, down to 1; then a floor of one unit in the last place."""
    k = tolerance.k
    while k > 1:
        k = max(1.0, k / 2)
        yield Tolerance(k=k, ulps=tolerance.ulps)
    if tolerance.ulps > 1:
        yield Tolerance(k=min(1.0, tolerance.k), ulps=1.0)


def _sentence(control: Control) -> str:
    """What is wrong, as the end of a sentence."""
    off = f"{control.tolerances:.3g} tolerances" if control.tolerances else "nothing"
    match control.name:
        case "another_seed":
            why = ": the inputs are the same under every seed" if control.note else ""
            return f"the answers of two seeds for output {control.of} differ by {off}{why}"
        case "perturbed":
            why = f" ({control.note})" if control.note else ""
            return f"changing {control.of} changes the outputs by {off}{why}"
        case "pattern":
            return f"{control.note} of {control.of} is the same under every seed"
        case "undecided":
            return (
                f"honest evaluations of output {control.of} and its float64 answer part at "
                f"{control.note} of the elements"
            )
        case "pass_through":
            return f"input {control.note} passes for output {control.of}, off by {off}"
    words = control.name.replace("_", " ")
    return f"the control '{words}' passes for output {control.of}, off by {off}"
