"""What the scheduler is fed: the same three things, live from an executor or read from the store.

Everything in a run that is not a function of its spec passes through here: what the executor
found when it was opened, what came back and when, and that the time was over.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kernelwright.executors.base import Executor
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob, Session
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.task import Task
from kernelwright.store.store import Store

Clock = Callable[[], float]
LONGEST_WAIT_S = 3600.0


@dataclass(frozen=True)
class Opened:
    """The executor is ready, for the first time or again."""

    session: Session
    drafts: int
    """Builds that may be in flight."""
    looks: int
    """Looks that may be in flight."""
    wall_s: float


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


Input = Opened | Completed | Deadline


class Live:
    """An executor and a clock."""

    def __init__(
        self, executor: Executor, clock: Clock | None, base_s: float, limit_s: float | None
    ) -> None:
        """Prepare.

        Args:
            executor: where jobs go.
            clock: seconds, monotonic; default the machine's.
            base_s: wall seconds that the run has already spent.
            limit_s: the run's wall budget.
        """
        self._executor = executor
        self._clock = clock or time.monotonic
        self._base_s, self._limit_s = base_s, limit_s
        self._began = self._clock()
        self._queues: dict[bool, deque[JudgeJob]] = {True: deque(), False: deque()}
        self._free = {True: 0, False: 0}
        self._kind: dict[int, bool] = {}

    def open(self, task: Task, known: Sensitivity | None = None) -> Opened:
        """Open the executor."""
        session = self._executor.open(task, known)
        self._free = {
            True: self._executor.capacity(Rung.DRAFT),
            False: self._executor.capacity(Rung.SMOKE),
        }
        return Opened(session, self._free[True], self._free[False], self._now())

    def send(self, jobs: Sequence[JudgeJob]) -> None:
        """Submit jobs; those beyond the capacity (it may have shrunk) wait here."""
        for job in jobs:
            self._kind[job.number] = job.plan.rung is Rung.DRAFT
            self._queues[self._kind[job.number]].append(job)
        for draft, queue in self._queues.items():
            while queue and self._free[draft]:
                self._free[draft] -= 1
                self._executor.submit(queue.popleft())

    def next(self) -> Completed | Deadline:
        """Wait for an answer, or for the end of the wall budget."""
        while True:
            now = self._now()
            left = LONGEST_WAIT_S if self._limit_s is None else self._limit_s - now
            if left <= 0:
                return Deadline(now)
            answer = self._executor.wait(min(left, LONGEST_WAIT_S))
            if answer is not None:
                self._free[self._kind.pop(answer.number)] += 1
                return Completed(answer.number, answer.evaluation, self._now())

    def _now(self) -> float:
        return self._base_s + self._clock() - self._began


def recorded(store: Store, run_id: str) -> Iterator[Input]:
    """What a stored run was fed, in its order; copies are decisions, not inputs."""
    events = [event for event in store.events(run_id) if event.kind in ("opened", "deadline")]
    pending = deque(events)
    for stored in store.evaluations(run_id):
        while pending and pending[0].data["after"] < stored.sequence:
            yield _from_event(pending.popleft().data)
        if not stored.evaluation.copied_from:
            yield Completed(stored.number, stored.evaluation, stored.wall_s)
    yield from (_from_event(event.data) for event in pending)


def to_event(given: Opened | Deadline, after: int) -> dict[str, object]:
    """The data of the event that lets :func:`recorded` repeat an input.

    Args:
        given: the input.
        after: evaluations stored before it.
    """
    data: dict[str, object] = {"after": after, "wall_s": given.wall_s}
    if isinstance(given, Opened):
        data["session"] = given.session.model_dump(mode="json")
        data |= {"drafts": given.drafts, "looks": given.looks}
    return data


def _from_event(data: dict[str, object]) -> Opened | Deadline:
    wall_s = float(str(data["wall_s"]))
    if "session" not in data:
        return Deadline(wall_s)
    session = Session.model_validate(data["session"])
    return Opened(session, int(str(data["drafts"])), int(str(data["looks"])), wall_s)
