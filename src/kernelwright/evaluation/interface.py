"""How the model of a task in KernelBench's format is built and called, asked of the oracle."""

from typing import Any

from kernelwright.evaluation.arena import Arena
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.records.task import Case


def interface(oracle: Oracle, case: Case) -> dict[str, Any]:
    """What a worker must know to build and call a candidate's model, in plain values.

    Args:
        oracle: loaded with the task.
        case: a workload of the task.

    Returns:
        ``init`` and ``named`` (encoded arguments of the constructor), ``forward``, ``scalars``,
        ``states``, ``outputs``; or ``unsupported`` with the reason.

    Raises:
        ReferenceFailure: the reference fails.
    """
    arena = Arena.create(0)
    try:
        found: dict[str, Any] = oracle.about(case, arena, {"do": "interface"})["interface"]
        return found
    finally:
        arena.close()
