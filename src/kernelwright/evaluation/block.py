"""How many calls make a block."""

import math

BLOCK_US = 6000.0
FEW_CALLS = 5
"""As many as a block has at most, where its buffers are large: fresh contents have their price."""
MANY_CALLS = 64
"""Where they are small. What a worker may hide of a block is little beside so many short calls."""
SMALL_BYTES = 16 << 20
RING_BYTES = 512 << 20


def calls_a_block(call_us: float, nbytes: int) -> int:
    """Calls a block needs to last, within memory.

    Args:
        call_us: what one takes.
        nbytes: buffers of one.
    """
    most = min(MANY_CALLS, max(FEW_CALLS, SMALL_BYTES // max(nbytes, 1)))
    wanted = min(most, math.ceil(BLOCK_US / max(call_us, 1.0)))
    return max(1, min(wanted, RING_BYTES // max(nbytes, 1)))
