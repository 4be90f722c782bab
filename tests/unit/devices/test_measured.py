"""Which measurement of a processor's peaks is believed, and how long."""

from __future__ import annotations

import os
import time

import pytest

from kernelwright.devices import measured, roofline
from kernelwright.devices.measured import Peaks
from kernelwright.records.conditions import Conditions

PEAKS = Peaks(warm_read_gbps=100.0, rate_gflops=50.0, flush_bytes=8, copy_gbps=30.0, read_gbps=20.0)
SLOWED = Peaks(
    warm_read_gbps=60.0,
    rate_gflops=55.0,
    flush_bytes=4,
    copy_gbps=15.0,
    read_gbps=12.0,
    settled=False,
)


def during(**change):
    return Conditions(seconds=1.0, load_before=0.0, load_after=0.0, **change)


def test_what_was_kept_is_found_for_a_quarter_of_an_hour(tmp_path):
    assert measured.recent(2, tmp_path) is None
    measured.keep(PEAKS, 2, tmp_path)
    assert measured.recent(2, tmp_path) == PEAKS
    assert measured.recent(1, tmp_path) is None
    (kept,) = tmp_path.iterdir()
    long_ago = time.time() - measured.RECENT_SECONDS - 1
    os.utime(kept, (long_ago, long_ago))
    assert measured.recent(2, tmp_path) is None


def test_of_two_measurements_each_peak_is_the_better_one():
    better = PEAKS.best(SLOWED)
    assert better == Peaks(
        warm_read_gbps=100.0, rate_gflops=55.0, flush_bytes=8, copy_gbps=30.0, read_gbps=20.0
    )
    assert not SLOWED.best(PEAKS).settled
    assert PEAKS.best(None) == PEAKS


def test_a_roof_that_was_exceeded_is_measured_again(tmp_path):
    measured.doubt(2, tmp_path)
    assert measured.recent(2, tmp_path) is None
    measured.keep(PEAKS, 2, tmp_path)
    measured.doubt(2, tmp_path)
    found = measured.recent(2, tmp_path)
    assert found is not None
    assert not found.settled
    assert found.copy_gbps == PEAKS.copy_gbps


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (during(), True),
        (during(others=0.05, steal=0.0), True),
        (during(others=0.4, steal=0.0), False),
        (during(others=0.0, steal=0.2), False),
    ],
)
def test_peaks_are_settled_where_nobody_else_was_at_work(conditions, expected):
    assert measured.quiet(conditions) is expected


@pytest.mark.parametrize("operations", [0.0, 1e3, 1e12])
def test_a_floor_knows_whether_operations_were_told(operations):
    peaks = measured.Peaks(
        warm_read_gbps=10, rate_gflops=10, flush_bytes=1, copy_gbps=10, read_gbps=10
    )
    found = roofline.roofline(roofline.floor(1 << 20, 1 << 20, operations, peaks), 1e3)
    assert found.operations_known is (operations > 0)
    assert found.bound == ("rate" if operations > 1e9 else "bandwidth")
