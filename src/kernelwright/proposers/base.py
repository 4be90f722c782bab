"""What every proposer offers: ask for a candidate, tell what became of it.

The contract, checked by ``kernelwright.testing.proposers``:

- an answer depends on the context, its seed, and the calls made before: no clock, no other chance;
- the same candidate is never proposed twice;
- ``ask`` returns None when there is nothing to propose *now*; after more was told it may again.

A proposer judges nothing and writes nothing; what it must know of a score comes with the context.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kernelwright import expressions
from kernelwright.errors import UsageError
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.run import RunSpec
from kernelwright.records.task import Task, Workload

Scorer = Callable[[Evaluation], float | None]
"""Logarithm of a speedup, higher is better; None for a failure or an untimed look."""


@dataclass(frozen=True)
class Context:
    """What a proposer is built with."""

    task: Task
    languages: tuple[str, ...]
    seed: int
    values: Mapping[str, int | float]
    """Axes of the main workload and facts of the device, for constraints of tunables."""
    score: Scorer
    start: tuple[Candidate, ...] = field(default=())
    """The user's own candidates."""


class Proposer(Protocol):
    """One author of candidates; built with a :class:`Context`."""

    coarse: bool
    """Its candidates are structures, to be seen broadly, not points of a space."""

    def ask(self, parents: Sequence[Candidate]) -> Candidate | None:
        """The next candidate, or None when there is nothing to propose now.

        Args:
            parents: candidates worth mutating, the first by preference; a proposer that mutates
                names the one it took in ``candidate.parents``.
        """

    def tell(self, candidate: Candidate, evaluation: Evaluation) -> None:
        """What became of any candidate of the run, whoever wrote it."""


def main_workload(task: Task, device: str) -> Workload:
    """The workload for which numbers are chosen.

    Raises:
        UsageError: the task has no workload for that kind of device.
    """
    kind = "cpu" if device == "cpu" else "gpu"
    fitting = [workload for workload in task.workloads if workload.device == kind]
    if not fitting:
        raise UsageError(
            f"the task {task.name} has no workload for {device}",
            hint="add a [[workloads]] entry for that device, or choose another with --device",
        )
    return next((workload for workload in fitting if workload.role == "main"), fitting[0])


def context_for(
    task: Task, spec: RunSpec, score: Scorer, start: Sequence[Candidate] = ()
) -> Context:
    """The context of a run.

    Raises:
        UsageError: the task has no workload for the device.
    """
    values: dict[str, int | float] = dict(main_workload(task, spec.device).axes)
    derived = {name: text for name, text in task.axes.items() if text not in ("free", "fixed")}
    # An axis may be derived from one that is itself derived: as many rounds as there are axes.
    for _ in range(len(derived)):
        for name, text in derived.items():
            if expressions.names(text) <= values.keys():
                values[name] = expressions.evaluate(text, values)
    values["cores"] = spec.threads
    return Context(task, spec.languages, spec.seed, values, score, tuple(start))


def seed_from(*parts: object) -> int:
    """A seed of 32 bits that is the same in every process, unlike ``hash``."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
