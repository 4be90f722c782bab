"""Whether a time is physically possible: faster than the data can be moved, it is no time.

Only what must be moved counts, and only as far as it cannot have been in a cache; whoever finds a
better algorithm is not slower than that. Refuses to judge operations unless the task declares a
proven minimum.
"""

from kernelwright.checks.finding import Finding
from kernelwright.devices.measured import Peaks
from kernelwright.devices.roofline import impossible
from kernelwright.records.outcome import Outcome


def judge(
    time_us: float, compulsory_bytes: int, least_operations: float, peaks: Peaks
) -> Finding | None:
    """That no kernel can be so fast, or None.

    Args:
        time_us: of one call, caches emptied before.
        compulsory_bytes: that any right kernel must read or write.
        least_operations: a proven minimum; 0 if there is none.
        peaks: of the device.
    """
    least_us = impossible(compulsory_bytes, least_operations, peaks)
    if time_us >= least_us:
        return None
    reason = f"{time_us:.4g} us a call is less than any kernel can need here ({least_us:.4g} us)"
    evidence = {
        "time_us": time_us,
        "least_us": least_us,
        "compulsory_bytes": compulsory_bytes,
        "least_operations": least_operations,
        "cache_bytes": peaks.cache_bytes,
        "fastest_gbps": peaks.fastest_gbps,
    }
    return Finding(Outcome.IMPLAUSIBLY_FAST, reason, evidence)
