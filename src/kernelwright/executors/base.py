"""What every executor offers: submit jobs, wait for answers, in any order."""

from typing import Protocol

from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Completion, JudgeJob, Session
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.task import Task


class Executor(Protocol):
    """A place where candidates are built and judged.

    A task is opened before its candidates are looked at; a draft needs no open task, and a confirm
    opens one of its own. The caller submits at most ``capacity(rung)`` jobs of a kind at a time
    (drafts on one side, looks that hold the device on the other) and takes answers in the order
    in which they come. A look is compared with the baseline that its job names, or else with the
    strongest.
    """

    simulated: bool
    """Whether it has no device and repeats itself exactly: given the same jobs, the same answers
    in the same order. A resumed run then drives it again from the beginning."""

    def open(
        self, task: Task, known: Sensitivity | None = None, *, controls: bool = True
    ) -> Session:
        """Make ready to judge candidates of ``task``: start processes, time the baselines.

        Args:
            task: what will be judged.
            known: what the task's comparison was seen to tell apart, if that was seen before;
                the session says it for the next time.
            controls: whether the judge is tested first; not where nothing dearer than a smoke
                look is to come.

        Raises:
            InsensitiveTask: the task's own comparison would accept a wrong answer.
            ControlError: a control failed, so no verdict can be given here now.
            UserError: the task's reference fails, or something is missing on the machine.
        """

    def capacity(self, rung: Rung) -> int:
        """How many jobs may be in flight: drafts for ``draft``, looks for any other rung."""

    def submit(self, job: JudgeJob) -> None:
        """Take a job; returns at once."""

    def wait(self, timeout: float | None = None) -> Completion | None:
        """The next answer, or None when ``timeout`` seconds passed without one.

        Raises:
            JudgeError: the machinery broke; the job in flight has no verdict.
        """

    def close(self) -> None:
        """Kill what runs and free everything; may be called twice."""


def judged(executor: Executor, job: JudgeJob) -> Evaluation:
    """The answer to a single job, where nothing else is in flight.

    Raises:
        JudgeError: the machinery broke; there is no verdict.
    """
    executor.submit(job)
    while (completion := executor.wait(None)) is None:
        pass
    return completion.evaluation
