"""The baseline that is hardest to beat comes first, whatever the order in which they were timed."""

import pytest

from kernelwright.records.measurement import Comparison, hardest_first
from kernelwright.records.outcome import Decision


def row(baseline, workload, ratio):
    return Comparison(
        baseline=baseline, workload=workload, ratio=ratio, low=ratio, high=ratio, margin=0.01,
        decision=Decision.FASTER, pairs=30, candidate_us=1.0, baseline_us=ratio,
    )  # fmt: skip


def test_the_mean_of_the_log_ratios_counts_and_workloads_keep_their_order():
    rows = [row("eager", "a", 4.0), row("compile", "a", 9.0), row("eager", "b", 4.0),
            row("compile", "b", 1.5)]  # fmt: skip
    found = hardest_first(rows)
    assert [(one.baseline, one.workload) for one in found] == [
        ("compile", "a"), ("compile", "b"), ("eager", "a"), ("eager", "b"),
    ]  # fmt: skip
    assert hardest_first(found) == found


@pytest.mark.parametrize("rows", [[], [row("loop", "a", 0.5)]])
def test_few_are_no_trouble(rows):
    assert hardest_first(rows) == tuple(rows)
