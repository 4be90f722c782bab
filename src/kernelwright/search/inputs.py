"""What the scheduler is fed: the same three things, live from an executor or read from the store.

Everything in a run that is not a function of its spec passes through here: what the executor
found when it was opened, what came back and when, and that the time was over.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from kernelwright.budget.limits import Limits, added
from kernelwright.executors.base import Executor
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob, Session
from kernelwright.records.run import Budget, Run
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.task import Task
from kernelwright.store.rows import readable
from kernelwright.store.step import Event
from kernelwright.store.store import Store

Clock = Callable[[], float]
LONGEST_WAIT_S = 3600.0
Lane = Literal["draft", "look"]
"""An executor has a capacity for each: looks hold the device, drafts do not."""


@dataclass(frozen=True)
class Opened:
    """The executor is ready, for the first time or again."""

    session: Session
    drafts: int
    """Builds that may be in flight."""
    looks: int
    """Looks that may be in flight."""
    wall_s: float
    more: Budget | None = None
    """What was added to the budget when the run was taken up again."""


@dataclass(frozen=True)
class Completed:
    """A job came back."""

    number: int
    evaluation: Evaluation
    wall_s: float


@dataclass(frozen=True)
class Deadline:
    """The wall budget is over; what is in flight is given up."""

    wall_s: float


@dataclass(frozen=True)
class Confirmed:
    """A confirm that somebody asked for, of a run that nobody works on."""

    evaluation: Evaluation
    seconds: float
    """Wall time it took."""

    @property
    def price(self) -> Budget:
        """What it adds to the budget, so that the search keeps what is its own."""
        return Budget(minutes=self.seconds / 60 or None, evaluations=1)


Input = Opened | Completed | Confirmed | Deadline


class Live:
    """An executor and a clock."""

    def __init__(
        self, executor: Executor, clock: Clock | None, base_s: float, limits: Limits
    ) -> None:
        """Prepare.

        Args:
            executor: where jobs go.
            clock: seconds, monotonic; default the machine's.
            base_s: wall seconds that the run has already spent.
            limits: of the run.
        """
        self._executor = executor
        self._clock = clock or time.monotonic
        self._base_s, self._limits = base_s, limits
        self._began = self._clock()
        self._queues: dict[Lane, deque[JudgeJob]] = {"draft": deque(), "look": deque()}
        self._free: dict[Lane, int] = {"draft": 0, "look": 0}
        self._lanes: dict[int, Lane] = {}

    def open(
        self, task: Task, more: Budget | None = None, known: Sensitivity | None = None
    ) -> Opened:
        """Open the executor, with more budget than the run had before.

        Args:
            task: what is judged.
            more: what is added to the budget.
            known: what is known of the task's sensitivity.
        """
        session = self._executor.open(task, known)
        self._free = capacities(self._executor)
        return Opened(session, self._free["draft"], self._free["look"], self._now(), more)

    def send(self, jobs: Sequence[JudgeJob]) -> None:
        """Submit jobs; those beyond the capacity (it may have shrunk) wait here."""
        for job in jobs:
            self._lanes[job.number] = lane(job.plan.rung)
            self._queues[lane(job.plan.rung)].append(job)
        for name, queue in self._queues.items():
            while queue and self._free[name]:
                self._free[name] -= 1
                self._executor.submit(self._in_time(queue.popleft()))

    def next(self) -> Completed | Deadline:
        """Wait for an answer, or for the end of the wall budget."""
        while True:
            now = self._now()
            limit_s = self._limits.wall_s
            left = LONGEST_WAIT_S if limit_s is None else limit_s - now
            if left <= 0:
                return Deadline(now)
            answer = self._executor.wait(min(left, LONGEST_WAIT_S))
            if answer is not None:
                self._free[self._lanes.pop(answer.number)] += 1
                return Completed(answer.number, answer.evaluation, self._now())

    def _in_time(self, job: JudgeJob) -> JudgeJob:
        """A confirm knows how much is left: undecided is more than nothing."""
        if self._limits.wall_s is None or job.plan.rung is not Rung.CONFIRM:
            return job
        return job.model_copy(update={"time_s": max(0.0, self._limits.wall_s - self._now())})

    def _now(self) -> float:
        return self._base_s + self._clock() - self._began


def lane(rung: Rung) -> Lane:
    """What a job of that rung takes up."""
    return "draft" if rung is Rung.DRAFT else "look"


def capacities(executor: Executor) -> dict[Lane, int]:
    """How many jobs of each lane may be in flight on an open executor."""
    return {"draft": executor.capacity(Rung.DRAFT), "look": executor.capacity(Rung.SMOKE)}


def recorded(store: Store, run_id: str) -> Iterator[Input]:
    """What a stored run was fed, in its order; copies are decisions, not inputs.

    Raises:
        StoreError: a row of it is damaged.
    """
    with readable(f"what run {run_id} knows of its sessions"):
        pending = deque(
            (int(event.data["after"]), _from_event(event.data))
            for event in store.events(run_id)
            if event.kind in ("opened", "deadline")
        )
        asked = {
            int(event.data["number"]): float(event.data["seconds"])
            for event in store.events(run_id, "confirmed")
        }
    for stored in store.evaluations(run_id):
        while pending and pending[0][0] < stored.sequence:
            yield pending.popleft()[1]
        if stored.number in asked:
            yield Confirmed(stored.evaluation, asked[stored.number])
        elif not stored.evaluation.copied_from:
            yield Completed(stored.number, stored.evaluation, stored.wall_s)
    yield from (given for _, given in pending)


def whole_budget(run: Run, events: Iterable[Event]) -> Budget:
    """What was given at the start and since.

    Args:
        run: the run.
        events: that happened in it.
    """
    more = [Budget.model_validate(one.data["more"]) for one in events if "more" in one.data]
    return reduce(added, more, run.spec.budget)


def to_event(given: Opened | Deadline | Confirmed, after: int) -> dict[str, object]:
    """The data of the event that lets :func:`recorded` repeat an input.

    Args:
        given: the input.
        after: evaluations stored before it; for a confirm that was asked for, its own number.
    """
    if isinstance(given, Confirmed):
        more = given.price.model_dump(mode="json")
        return {"number": after, "seconds": given.seconds, "more": more}
    data: dict[str, object] = {"after": after, "wall_s": given.wall_s}
    if isinstance(given, Opened):
        # What was not known is left out: a run that is older than the field says the same again.
        data["session"] = given.session.model_dump(mode="json", exclude_none=True)
        data |= {"drafts": given.drafts, "looks": given.looks}
        if given.more is not None:
            data["more"] = given.more.model_dump(mode="json")
    return data


def _from_event(data: dict[str, object]) -> Opened | Deadline:
    wall_s = float(str(data["wall_s"]))
    if "session" not in data:
        return Deadline(wall_s)
    session = Session.model_validate(data["session"])
    more = Budget.model_validate(data["more"]) if "more" in data else None
    return Opened(session, int(str(data["drafts"])), int(str(data["looks"])), wall_s, more)
