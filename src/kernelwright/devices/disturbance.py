"""Whether something else was at work while a number was measured, in words."""

from collections.abc import Iterator

from kernelwright.records.conditions import Conditions

OTHERS = 0.25
"""Cores that others may use, on average, before a reader is warned."""
STEAL = 0.05
"""Share of the time that a host may take away before a reader is warned."""


def disturbance(found: Conditions | None) -> str:
    """What disturbed a measurement, no sentence yet; empty if nothing did, or nobody watched."""
    return " and ".join(_disturbances(found)) if found else ""


def _disturbances(found: Conditions) -> Iterator[str]:
    if found.others is not None and found.others > OTHERS:
        yield f"other processes used {found.others:.1f} cores"
    if found.steal is not None and found.steal > STEAL:
        yield f"the host of this machine took {found.steal:.0%} of the time"
