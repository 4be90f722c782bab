"""Choose a candidate's numbers before it meets another: the same number of looks for each.

Keeps nothing: it is a short search of one structure, without a store, at the screen.
"""

from typing import NamedTuple

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.executors.base import Executor, judged
from kernelwright.proposers.base import context_for
from kernelwright.proposers.tune import Tune
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob
from kernelwright.records.run import RunSpec
from kernelwright.records.rung import Rung
from kernelwright.records.task import Task
from kernelwright.search.rungs import plans_for
from kernelwright.search.score import score
from kernelwright.settings import Settings


class Tuned(NamedTuple):
    """The best point of one structure."""

    candidate: Candidate
    tried: int
    """Points that were looked at, the first included."""


def tuned(
    executor: Executor, task: Task, candidate: Candidate, looks: int, settings: Settings
) -> Tuned:
    """The candidate with the best values found of its tunables.

    Args:
        executor: opened for the task.
        task: what it computes.
        candidate: where to begin; it comes back if nothing better was found.
        looks: most points that are looked at.
        settings: threads, seed, isolation, effort.

    Raises:
        JudgeError: the machinery broke.
    """
    spec = RunSpec(task="", device="cpu", threads=settings.cores, seed=settings.seed)
    proposer = Tune(context_for(task, spec, _value))
    best, highest, tried = candidate, float("-inf"), 0
    point: Candidate | None = candidate
    while point is not None and tried < looks:
        found = _look(executor, task, point, settings)
        tried += 1
        proposer.tell(point, found)
        reached = _value(found)
        if reached is not None and reached > highest:
            best, highest = point, reached
        point = proposer.ask([best])
    return Tuned(_as_the_users(best, candidate), tried)


def _value(found: Evaluation) -> float | None:
    reached = score(found)
    return reached.value if reached else None


def _look(executor: Executor, task: Task, one: Candidate, settings: Settings) -> Evaluation:
    plans = plans_for(settings.effort)
    for rung in (Rung.DRAFT, Rung.SCREEN):
        job = JudgeJob(
            number=0,  # one at a time
            task=task,
            candidate=one,
            plan=plans[rung],
            seed=settings.seed,
            threads=settings.cores,
            sandbox=settings.sandbox,
        )
        found = judged(executor, job)
        if not found.passed:
            break
    return found


def _as_the_users(best: Candidate, first: Candidate) -> Candidate:
    return make_candidate(first.source, first.language, best.tunables, origin=first.origin)
