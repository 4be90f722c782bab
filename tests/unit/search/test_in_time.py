"""A confirm is told how much time is left for it; nothing else is, and nothing without a limit."""

import pytest

from kernelwright.records.rung import Rung
from kernelwright.testing.simulated import SimulatedExecutor, smooth_truth


class Noting(SimulatedExecutor):
    """Notes when each job came."""

    def __init__(self):
        super().__init__(smooth_truth)
        self.came = []

    def submit(self, job):
        self.came.append((job, self.clock()))
        super().submit(job)


@pytest.mark.parametrize("minutes", [1, None])
def test_what_is_left_is_said_to_confirms_alone(run, minutes):
    executor = Noting()
    run(executor=executor, minutes=minutes)
    for job, at in executor.came:
        timed = minutes and job.plan.rung is Rung.CONFIRM
        assert job.time_s == (pytest.approx(60 - at) if timed else None)
    assert executor.came[-1][0].plan.rung is Rung.CONFIRM
