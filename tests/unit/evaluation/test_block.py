from __future__ import annotations

import pytest

from kernelwright.evaluation.block import FEW_CALLS, MANY_CALLS, calls_a_block

MIB = 1 << 20


@pytest.mark.parametrize(
    ("call_us", "nbytes", "calls"),
    [
        (20.0, 64 * 1024, MANY_CALLS),  # short and small
        (20.0, 0, MANY_CALLS),
        (1000.0, 64 * 1024, 6),  # six milliseconds are enough
        (20.0, 64 * MIB, FEW_CALLS),  # fresh contents would take longer than the calls
        (20.0, 2 * MIB, 8),
        (1e6, 64 * 1024, 1),
        (20.0, 300 * MIB, 1),  # memory
        (20.0, 2000 * MIB, 1),
    ],
)
def test_calls_a_block(call_us, nbytes, calls):
    assert calls_a_block(call_us, nbytes) == calls
