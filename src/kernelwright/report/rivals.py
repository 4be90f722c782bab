"""Which baselines a session has, and which could not be had: what a number is compared with."""

from kernelwright.records.job import Session


def to_beat(session: Session) -> str:
    """Those that were timed, and the strongest of them."""
    timed = ", ".join(one.name for one in session.baselines if not one.missing)
    return f"{timed}; the strongest is {session.strongest}"


def absent(session: Session) -> list[str]:
    """Those that could not be had and why, one each."""
    return [f"{one.name}: {one.missing}" for one in session.baselines if one.missing]
