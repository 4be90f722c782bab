"""The rung loop: feed the scheduler, commit its step, send its jobs.

It decides nothing. The order is the whole of it: a step is committed before its jobs are sent,
so whatever a killed run was doing is in the store as a claim.
"""

from collections.abc import Iterable

from kernelwright.errors import KernelwrightError, StoreError
from kernelwright.proposers.base import seed_from
from kernelwright.records.job import JudgeJob
from kernelwright.records.run import Run
from kernelwright.records.rung import Rung
from kernelwright.records.task import Task
from kernelwright.search.decision import Decision
from kernelwright.search.inputs import Live, Opened
from kernelwright.search.journal import Journal
from kernelwright.search.observer import Observer
from kernelwright.search.scheduler import Scheduler
from kernelwright.store.step import Claim, Event, Step
from kernelwright.store.writer import Writer


class Work:
    """A scheduler at work on an executor."""

    def __init__(
        self, scheduler: Scheduler, journal: Journal, live: Live, task: Task, observer: Observer
    ) -> None:
        self._scheduler, self._journal, self._live = scheduler, journal, live
        self._task, self._observer = task, observer

    def go_on(self, opened: Opened, writer: Writer) -> None:
        """Run until the scheduler ends it, or Ctrl-C does.

        Raises:
            JudgeError: the machinery broke; the run is left interrupted.
            StoreError: a step could not be written; the run is left as it was before it.
        """
        scheduler = self._scheduler
        self._journal.writer = writer
        try:
            self._commit(scheduler.take(opened))
            while scheduler.run.status == "running":
                self._commit(scheduler.take(self._live.next()))
            self._journal.finish()
        except KeyboardInterrupt:
            if writer.holds(scheduler.run.id):  # else its last step was written just before
                _interrupted(writer, scheduler.run, "interrupted by the user")
        except KernelwrightError as problem:
            if not isinstance(problem, StoreError):
                _interrupted(writer, scheduler.run, problem.message)
            raise

    def send(self, claims: Iterable[Claim]) -> None:
        """Send the jobs of claims.

        A confirm compares with every baseline and needs none named.
        """
        spec, rival = self._scheduler.run.spec, self._scheduler.standings.rival
        self._live.send(
            [
                JudgeJob(
                    number=claim.number,
                    task=self._task,
                    candidate=self._scheduler.candidate(claim),
                    plan=self._scheduler.plans[claim.rung],
                    seed=seed_from(spec.seed, claim.number),
                    threads=spec.threads,
                    sandbox=spec.sandbox,
                    against=rival if Rung.DRAFT < claim.rung < Rung.CONFIRM else "",
                )
                for claim in claims
            ]
        )

    def _commit(self, decision: Decision) -> None:
        new = self._journal.commit(self._scheduler.run, decision.step)
        self.send(decision.step.claims)
        # What an observer saw before an interruption it need not see again.
        for notice in decision.notices if new else ():
            notice(self._observer)


def _interrupted(writer: Writer, run: Run, reason: str) -> None:
    notes = {**run.notes, "reason": reason}
    stopped = run.model_copy(update={"status": "interrupted", "notes": notes})
    writer.commit(stopped, Step(events=[Event("interrupted", {"reason": reason})]), release=True)
