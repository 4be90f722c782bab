"""An executor that judges by a word in the source, so that faces can be tried without a device."""

from __future__ import annotations

from collections import deque

from kernelwright.records.job import Completion
from kernelwright.records.rung import Rung
from tests import samples


class FakeExecutor:
    """Rejects a source that holds ``WRONG``; everything else passes, twice as fast as numpy."""

    simulated = False
    made: list[FakeExecutor] = []

    def __init__(self, threads, sandbox="auto", compiler="", cache=None):
        self.settings = {
            "threads": threads,
            "sandbox": sandbox,
            "compiler": compiler,
            "cache": cache,
        }
        self.jobs = []
        self.closed = False
        self._answers = deque()
        FakeExecutor.made.append(self)

    def open(self, task, known=None):
        self.task = task
        return samples.session()

    def capacity(self, rung):
        return 1

    def submit(self, job):
        self.jobs.append(job)
        if "WRONG" in job.candidate.source and job.plan.rung > Rung.DRAFT:
            found = samples.rejected(job.candidate, job.plan.rung)
        elif job.plan.rung is Rung.DRAFT:
            found = samples.evaluation(job.candidate, Rung.DRAFT, comparisons=()).model_copy(
                update={"measurements": (), "roofline": None}
            )
        else:
            found = samples.evaluation(job.candidate, job.plan.rung)
        self._answers.append(Completion(number=job.number, evaluation=found))

    def wait(self, timeout=None):
        return self._answers.popleft() if self._answers else None

    def close(self):
        self.closed = True
