"""Honest evaluations in the lower types that a task allows."""

from collections.abc import Mapping

from kernelwright.checks.rounding import BITS, rounded
from kernelwright.evaluation.arena import Array
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.records.task import Case, Task


def lower(
    oracle: Oracle, task: Task, case: Case, contents: Mapping[str, Array]
) -> list[dict[str, Array]]:
    """Native evaluations in each lower type that the task allows; outputs by name.

    Inputs are rounded to its mantissa, sums are made in the declared type, outputs are rounded
    again: what matrix units do.
    """
    evaluations = []
    for name in task.precision:
        bits = BITS[name]
        narrowed = {
            item.name: rounded(contents[item.name], bits)
            if "float" in item.dtype
            else contents[item.name]
            for item in case.inputs
        }
        found = oracle.truth(case, narrowed, ("native",))["native"]
        for item in case.outputs:
            if "float" in item.dtype:
                found[item.name] = rounded(found[item.name], bits)
        evaluations.append(found)
    return evaluations
