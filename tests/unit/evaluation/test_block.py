from __future__ import annotations

import pytest

from kernelwright.evaluation.block import MOST_CALLS, calls_a_block


@pytest.mark.parametrize(
    ("call_us", "nbytes", "calls"),
    [
        (20.0, 64 * 1024, MOST_CALLS),
        (20.0, 0, MOST_CALLS),
        (3000.0, 64 * 1024, 2),  # six milliseconds are enough
        (1e6, 64 * 1024, 1),
        (20.0, 300 << 20, 1),  # memory
        (20.0, 2000 << 20, 1),
    ],
)
def test_calls_a_block(call_us, nbytes, calls):
    assert calls_a_block(call_us, nbytes) == calls
