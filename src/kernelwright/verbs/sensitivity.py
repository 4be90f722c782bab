"""What the store knows of a task's sensitivity, for verbs that can do without a store.

The store is a cache here: where it cannot be used, the controls are run again.
"""

import logging

from kernelwright.checks.sensitivity import InsensitiveTask
from kernelwright.errors import UserError
from kernelwright.executors.base import Executor
from kernelwright.records.job import Session
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.task import Task
from kernelwright.settings import Settings
from kernelwright.store.step import content_hash
from kernelwright.store.writer import Writer
from kernelwright.verbs import setup

_log = logging.getLogger(__name__)


def known(settings: Settings, task: Task) -> Sensitivity | None:
    """What was seen of ``task`` before, or None."""
    try:
        with setup.store(settings, writable=False) as store:
            return store.sensitivity(content_hash(task))
    except UserError as problem:
        _log.info("the controls of %s are run anew: %s", task.name, problem.message)
        return None


def keep(settings: Settings, task: Task, found: Sensitivity) -> str:
    """Keep what was seen of ``task``; why it could not be kept, or an empty text."""
    try:
        with setup.store(settings, writable=False):
            pass  # a file that was emptied is refused, not made a store
        with setup.store(settings) as store:
            Writer(store).put_sensitivity(content_hash(task), found)
    except UserError as problem:
        _log.info("what was seen of %s is not kept: %s", task.name, problem.message)
        return problem.message
    return ""


def opened(executor: Executor, task: Task, settings: Settings, *, controls: bool = True) -> Session:
    """Open the executor; what is seen of the task's sensitivity then is kept.

    Args:
        executor: where the task is to be judged.
        task: which.
        settings: say where the store is.
        controls: whether the judge is tested too.

    Raises:
        InsensitiveTask: the task's own comparison would accept a wrong answer.
    """
    before = known(settings, task)
    try:
        session = executor.open(task, before, controls=controls)
    except InsensitiveTask as refusal:
        keep(settings, task, refusal.found)
        raise
    if session.sensitivity is not None and before is None:
        keep(settings, task, session.sensitivity)
    return session
