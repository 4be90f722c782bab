"""The rung loop; see the package docstring for the contract."""

from collections.abc import Callable, Sequence

from kernelwright.executors.base import Executor
from kernelwright.records.candidate import Candidate
from kernelwright.records.run import RunSpec
from kernelwright.records.task import Task
from kernelwright.search.observer import Observer
from kernelwright.search.summary import RunSummary
from kernelwright.store.store import Store

Clock = Callable[[], float]


def start_run(
    store: Store,
    executor: Executor,
    task: Task,
    spec: RunSpec,
    *,
    start: Sequence[Candidate] = (),
    observer: Observer | None = None,
    clock: Clock | None = None,
) -> RunSummary:
    """Search for a faster kernel for ``task`` until a stop rule holds.

    ``spec.task`` and ``spec.start`` are filled in here from ``task`` and ``start``.

    Raises:
        UsageError: there is nothing to try (no expert, no start file).
        UserError: the executor or the store cannot be used.
        JudgeError: the machinery broke; the run stays resumable.
    """
    raise NotImplementedError


def resume_run(
    store: Store,
    executor: Executor,
    run_id: str,
    *,
    observer: Observer | None = None,
    clock: Clock | None = None,
) -> RunSummary:
    """Go on with a run that was interrupted or killed.

    Raises:
        UsageError: no such run, it is finished, or a living process works on it.
        StoreError: the stored decisions cannot be reproduced by this version.
    """
    raise NotImplementedError
