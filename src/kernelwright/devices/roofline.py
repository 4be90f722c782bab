"""The least time a device could need: compulsory bytes over bandwidth, operations over rate.

Williams, Waterman, Patterson 2009. Reading and writing are priced apart, since many kernels only
read. Operations are those of the obvious algorithm, so a better algorithm may beat this floor
honestly; the floor says where nothing is left to win, and never by itself that a time is a lie.
"""

from dataclasses import dataclass

from kernelwright.devices.measured import Peaks
from kernelwright.records.measurement import Roofline


@dataclass(frozen=True)
class Floor:
    """Least microseconds for one workload, and what sets it."""

    us: float
    bound: str
    operations_known: bool = True


def floor(read_bytes: int, written_bytes: int, operations: float, peaks: Peaks) -> Floor:
    """The floor of one workload.

    A copy of n bytes takes as long as reading n and writing n; what reading alone takes is
    measured too, and the rest is the price of writing.

    Args:
        read_bytes: each input once.
        written_bytes: each output once.
        operations: of the obvious algorithm; 0 if unknown.
        peaks: of the device, with as many threads.
    """
    reading = 1 / peaks.read_gbps
    writing = max(2 / peaks.copy_gbps - reading, 0.0)
    by_bytes = (read_bytes * reading + written_bytes * writing) / 1e3
    by_rate = operations / (peaks.rate_gflops * 1e3)
    known = operations > 0
    if by_rate > by_bytes:
        return Floor(by_rate, "rate", known)
    return Floor(by_bytes, "bandwidth", known)


WARM_SLACK = 1.5
"""How much faster than the fastest read that was measured anything may seem to be."""


def impossible(nbytes: int, least_operations: float, peaks: Peaks) -> float:
    """Microseconds below which no honest kernel can be, whatever its caches hold.

    Args:
        nbytes: compulsory bytes, each input and output once; as many as the last cache holds may
            be there already.
        least_operations: a proven minimum; 0 if there is none, since a better algorithm than the
            obvious one is no fraud.
        peaks: of the device, with as many threads.
    """
    by_bytes = max(nbytes - peaks.cache_bytes, 0) / (WARM_SLACK * peaks.fastest_gbps * 1e3)
    by_rate = least_operations / (WARM_SLACK * peaks.rate_gflops * 1e3)
    return max(by_bytes, by_rate)


def roofline(floor_: Floor, time_us: float) -> Roofline:
    """The record: floor, and which fraction of the roof ``time_us`` reaches."""
    return Roofline(
        floor_us=floor_.us,
        fraction=floor_.us / time_us,
        bound=floor_.bound,
        operations_known=floor_.operations_known,
    )
