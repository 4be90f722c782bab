"""Times that cannot be, and fast ones that can."""

from __future__ import annotations

import pytest

from kernelwright.checks.plausibility import judge
from kernelwright.devices.measured import Peaks
from kernelwright.records.outcome import Outcome

MIB = 1 << 20
PEAKS = Peaks(warm_read_gbps=80.0, rate_gflops=100.0, flush_bytes=32 * MIB, copy_gbps=20.0,
              read_gbps=15.0)  # fmt: skip


def test_a_cheats_clock_is_below_what_the_data_need():
    found = judge(10.0, 64 * MIB, 0.0, PEAKS)
    assert found is not None
    assert found.outcome is Outcome.IMPLAUSIBLY_FAST
    assert found.evidence["least_us"] == pytest.approx(48 * MIB / 120e3)
    assert "10 us a call is less than any kernel can need here" in found.reason


@pytest.mark.parametrize("gbps", [10.0, 20.0, 80.0, 115.0])
def test_an_honest_kernel_is_not_however_well_it_moves_the_data(gbps):
    assert judge(64 * MIB / (gbps * 1e3), 64 * MIB, 0.0, PEAKS) is None


@pytest.mark.parametrize("nbytes", [0, 4096, MIB, 16 * MIB])
def test_what_may_lie_in_a_cache_takes_no_time(nbytes):
    assert judge(0.01, nbytes, 0.0, PEAKS) is None


def test_the_fastest_that_was_seen_in_any_way_counts():
    slow = Peaks(warm_read_gbps=1.0, rate_gflops=100.0, flush_bytes=0, copy_gbps=20.0)
    assert judge(64 * MIB / 25e3, 64 * MIB, 0.0, slow) is None


def test_operations_count_where_their_minimum_is_proven():
    assert judge(5.0, 0, 1e6, PEAKS) is not None
    assert judge(5.0, 0, 0.0, PEAKS) is None
