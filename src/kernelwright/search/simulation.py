"""A device without a device: an executor whose clock is moved by what it answers.

Subclasses say what a look would have said. Nothing here sleeps: ``wait`` moves the clock to the
next completion, so that hours of search take seconds, and the same jobs give the same answers in
the same order. Refuses to be slower or faster than what its subclass recorded.
"""

import heapq
from abc import ABC, abstractmethod

from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Completion, JudgeJob, Session
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.task import Task


class Simulation(ABC):
    """An executor in simulated time; pass :meth:`clock` to the search."""

    simulated = True

    def __init__(self, *, drafts: int = 1, looks: int = 1) -> None:
        """Begin at time 0.

        Args:
            drafts: builds at a time.
            looks: looks at a time.
        """
        self._drafts, self._looks = drafts, looks
        self._now = 0.0
        self._coming: list[tuple[float, int, Evaluation]] = []

    @abstractmethod
    def session(self, task: Task) -> Session:
        """What opening finds out."""

    @abstractmethod
    def judge(self, job: JudgeJob) -> Evaluation:
        """What the job would say; ``seconds`` is how long it takes."""

    def clock(self) -> float:
        """Simulated seconds since the beginning."""
        return self._now

    def open(
        self, task: Task, known: Sensitivity | None = None, *, controls: bool = True
    ) -> Session:
        """Nothing to start."""
        return self.session(task)

    def capacity(self, rung: Rung) -> int:
        """As given."""
        return self._drafts if rung is Rung.DRAFT else self._looks

    def submit(self, job: JudgeJob) -> None:
        """Judge at once; the answer comes when its time has come."""
        evaluation = self.judge(job)
        heapq.heappush(self._coming, (self._now + evaluation.seconds, job.number, evaluation))

    def wait(self, timeout: float | None = None) -> Completion | None:
        """The next answer; moves the clock."""
        if self._coming and (timeout is None or self._coming[0][0] <= self._now + timeout):
            self._now, number, evaluation = heapq.heappop(self._coming)
            return Completion(number=number, evaluation=evaluation)
        self._now += timeout or 0.0
        return None

    def close(self) -> None:
        """Forget what was coming."""
        self._coming.clear()
