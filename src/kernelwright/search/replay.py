"""Audit replay: the stored run, fed through the same code, must give the same decisions."""

from dataclasses import dataclass

from kernelwright.store.store import Store


@dataclass(frozen=True)
class ReplayReport:
    """Whether every stored decision was reproduced."""

    run: str
    decisions: int
    """Decisions compared: dispatches, copies and the end of the run."""
    matches: bool
    first_difference: str = ""


def replay_run(store: Store, run_id: str) -> ReplayReport:
    """Repeat every decision of a stored run with no device; writes nothing.

    Raises:
        UsageError: no such run.
    """
    raise NotImplementedError
