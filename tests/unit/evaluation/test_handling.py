"""What is granted beside each call of a candidate in Python follows from what was measured."""

import pytest

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.clocks import SLACK_US
from kernelwright.evaluation.handling import FACTOR, LEAST_US, UNKNOWN_US, Handling, granted_us
from kernelwright.evaluation.report import Ran
from kernelwright.records.outcome import Outcome


class Ring:
    slots = 5


class Fake:
    """A worker whose blocks take so many microseconds beside their calls."""

    def __init__(self, excess_us, breaks=False):
        self.excess_us, self.breaks, self.closed = iter(excess_us), breaks, False

    def rehearse(self, model, timeout):
        if self.breaks:
            raise Rejected(Finding(Outcome.CRASHED, "it broke", {}))

    def bind(self, ring, timeout):
        pass

    def run(self, slots, timeout):
        wall = 5 * 10_000 + int(1000 * next(self.excess_us))
        return Ran((10_000,) * 5, wall)

    def close(self):
        self.closed = True


def test_little_is_granted_where_handling_takes_little():
    assert granted_us([SLACK_US / FACTOR] * 9, 5) == LEAST_US


def test_more_is_granted_where_it_takes_more_and_a_busy_moment_does_not_count():
    quiet = granted_us([2000.0] * 9, 5)
    assert quiet == LEAST_US + (FACTOR * 2000.0 - SLACK_US) / 5
    assert granted_us([2000.0] * 5 + [90_000.0] * 4, 5) == quiet


@pytest.mark.parametrize("breaks", [False, True])
def test_a_fresh_worker_is_measured_and_ended(breaks):
    worker, flushed = Fake([800.0] * 9, breaks), []
    found = Handling(lambda: worker, None, lambda: flushed.append(1))(Ring())
    assert worker.closed
    if breaks:
        assert found == UNKNOWN_US
    else:
        assert found == pytest.approx(granted_us([800.0] * 9, 5))
        assert len(flushed) == 9
