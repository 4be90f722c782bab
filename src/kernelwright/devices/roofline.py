"""The least time a device could need: compulsory bytes over bandwidth, operations over rate.

Williams, Waterman, Patterson 2009. Operations are those of the obvious algorithm, so a better
algorithm may beat this floor honestly; the floor says where nothing is left to win, and never
by itself that a time is a lie.
"""

from dataclasses import dataclass

from kernelwright.records.measurement import Roofline


@dataclass(frozen=True)
class Floor:
    """Least microseconds for one workload, and what sets it."""

    us: float
    bound: str


def floor(
    compulsory_bytes: int, operations: float, bandwidth_gbps: float, rate_gflops: float
) -> Floor:
    """The floor of one workload.

    Args:
        compulsory_bytes: each input read once, each output written once.
        operations: of the obvious algorithm; 0 if unknown.
        bandwidth_gbps: 10^9 bytes a second.
        rate_gflops: 10^9 operations a second.
    """
    by_bytes = compulsory_bytes / (bandwidth_gbps * 1e3)
    by_rate = operations / (rate_gflops * 1e3)
    return Floor(by_rate, "rate") if by_rate > by_bytes else Floor(by_bytes, "bandwidth")


def roofline(floor_: Floor, time_us: float) -> Roofline:
    """The record: floor, and which fraction of the roof ``time_us`` reaches."""
    return Roofline(floor_us=floor_.us, fraction=floor_.us / time_us, bound=floor_.bound)
