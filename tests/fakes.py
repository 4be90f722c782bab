"""An executor that judges by words in the source, so that faces can be tried without a device."""

from __future__ import annotations

from collections import deque

from kernelwright.records.job import Completion
from kernelwright.records.outcome import Decision, Outcome
from kernelwright.records.rung import Rung
from tests import samples

SPEED = {"SLOW": 0.5, "QUICK": 1.5}
"""Times as fast as others, by a word in the source."""


class FakeExecutor:
    """Rejects a source that holds ``WRONG``; everything else passes, twice as fast as numpy.

    One that holds ``BROKEN`` does not build; ``LATE`` is wrong as soon as it is a rival.
    """

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

    def open(self, task, known=None, *, controls=True):
        self.task = task
        return samples.session()

    def capacity(self, rung):
        return 1

    def submit(self, job):
        self.jobs.append(job)
        self._answers.append(Completion(number=job.number, evaluation=self.judge(job)))

    def judge(self, job):
        if "BROKEN" in job.candidate.source and job.plan.rung is Rung.DRAFT:
            return samples.rejected(job.candidate, Rung.DRAFT, Outcome.BUILD_ERROR)
        if "WRONG" in job.candidate.source and job.plan.rung > Rung.DRAFT:
            return samples.rejected(job.candidate, job.plan.rung)
        if not job.plan.looks:
            return samples.evaluation(job.candidate, job.plan.rung, comparisons=()).model_copy(
                update={"measurements": (), "roofline": None}
            )
        if job.rival is not None:
            return duel(job)
        return samples.evaluation(job.candidate, job.plan.rung)

    def wait(self, timeout=None):
        return self._answers.popleft() if self._answers else None

    def close(self):
        self.closed = True


def speed(candidate):
    return next((found for word, found in SPEED.items() if word in candidate.source), 1.0)


def duel(job):
    """The candidate against the job's rival."""
    if "LATE" in job.rival.source:
        found = samples.rejected(job.candidate, job.plan.rung)
        return found.model_copy(update={"evidence": {"side": "rival"}})
    ratio = speed(job.candidate) / speed(job.rival)
    decision = Decision.FASTER if ratio > 1 else Decision.SLOWER if ratio < 1 else Decision.SAME
    found = samples.comparison(job.rival.id, ratio, decision=decision)
    evidence = {"own_margins": {"candidate": 0.01, "rival": 0.02}}
    look = samples.evaluation(job.candidate, job.plan.rung, comparisons=(found,))
    return look.model_copy(update={"evidence": evidence})
