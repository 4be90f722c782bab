"""What else a machine did while something was measured on it."""

from kernelwright.records.base import Record


class Conditions(Record):
    """Read from the system before, during and after a measurement; None: it cannot be read here."""

    seconds: float
    """How long the measurement took."""
    load_before: float
    """Load average of the last minute, as the measurement began."""
    load_after: float
    others_before: float | None = None
    """Cores that processes which are not of the judge used just before; None also where nobody
    waited to see."""
    others: float | None = None
    """The same during the measurement, on average."""
    steal: float | None = None
    """Share of the cores' time that the host of a virtual machine gave to somebody else."""
    clock_mhz: tuple[float, float] | None = None
    """Median clock of the cores, before and after; a virtual machine may report one that never
    changes."""
    governor: str = ""
    """What chooses the clock, as the system calls it; empty: unknown."""
