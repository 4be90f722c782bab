"""The simulated device and the landscape keep the contract that real executors are held to."""

import pytest

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.records.outcome import Outcome
from kernelwright.records.rung import Rung
from kernelwright.search.landscape import LandscapeExecutor
from kernelwright.search.rungs import plans_for
from kernelwright.search.survey import measure_landscape
from kernelwright.testing.executors import ExecutorContract
from kernelwright.testing.simulated import (
    SimulatedExecutor,
    Truth,
    made_up_candidates,
    made_up_task,
    smooth_truth,
)

BROKEN = make_candidate('extern "C" int kernel() { return 1 }', "cpp", {})


def truth(candidate):
    if candidate.id == BROKEN.id:
        return Truth(outcome=Outcome.BUILD_ERROR)
    return smooth_truth(candidate)


class TestSimulated(ExecutorContract):
    def make(self):
        return SimulatedExecutor(truth)

    def broken(self):
        return BROKEN


class TestLandscape(ExecutorContract):
    @pytest.fixture(autouse=True)
    def _measure(self, tmp_path):
        plans = [plan for rung, plan in plans_for("quick").items() if rung < Rung.CONFIRM]
        people = [made_up_candidates(1)[0], BROKEN]
        self.landscape = measure_landscape(
            made_up_task(), SimulatedExecutor(truth), people, plans, tmp_path / "l.gz", threads=1
        )

    def make(self):
        return LandscapeExecutor(self.landscape)

    def broken(self):
        return BROKEN
