"""Which baselines a session has, and which could not be had: what a number is compared with."""

from kernelwright.records.job import Session


def to_beat(session: Session) -> str:
    """Those that were timed, and which of several is the strongest."""
    timed = [one.name for one in session.baselines if not one.missing]
    strongest = f"; the strongest is {session.strongest}" if len(timed) > 1 else ""
    return ", ".join(timed) + strongest


def absent(session: Session) -> list[str]:
    """Those that could not be had and why, one each."""
    return [f"{one.name}: {one.missing}" for one in session.baselines if one.missing]
