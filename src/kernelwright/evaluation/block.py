"""How many calls make a block."""

import math

BLOCK_US = 6000.0
MOST_CALLS = 5
"""More would let a clock hide less of a short call, but what a worker does beside its calls adds up
too: with 64 of them honest kernels were seen to be charged with it."""
RING_BYTES = 512 << 20


def calls_a_block(call_us: float, nbytes: int) -> int:
    """Calls a block needs to last, within memory.

    Args:
        call_us: what one takes.
        nbytes: buffers of one.
    """
    wanted = min(MOST_CALLS, math.ceil(BLOCK_US / max(call_us, 1.0)))
    return max(1, min(wanted, RING_BYTES // max(nbytes, 1)))
