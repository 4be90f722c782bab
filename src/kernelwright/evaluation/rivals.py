"""The baselines that candidates are compared with, each run by a trusted worker of ours.

All use as many threads as the candidate. A baseline that cannot be had here is named with the
reason, never silently dropped.
"""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kernelwright import sandbox
from kernelwright.checks.finding import Rejected
from kernelwright.errors import JudgeError, KernelwrightError, scarce
from kernelwright.evaluation import cores
from kernelwright.evaluation.channel import Channel
from kernelwright.evaluation.ending import Process
from kernelwright.evaluation.environment import NO_HEADERS, environment
from kernelwright.evaluation.guarded import Guarded
from kernelwright.evaluation.ring import Ring
from kernelwright.evaluation.worker import Worker
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Task

LOAD_SECONDS = 120.0
COMPILE_SECONDS = 300.0
NAMES = ("loop", "numpy", "eager", "fused", "compile")
_PROGRAM = {"loop": "loop", "numpy": "numpy"}
"""Which process runs a baseline; the rest share one that has imported torch, and take turns."""


def program_of(name: str) -> str:
    """Which process runs baseline ``name``."""
    return _PROGRAM.get(name, "torch")


class Rivals:
    """Starts baselines when first asked for and keeps them.

    Args:
        task: what they compute.
        loop: library of the plain loop, or None.
        threads: as many as the candidate has.
        folder: a private folder for what frameworks write.
        cache: where what a compiler made is kept for the next session.
    """

    def __init__(
        self, task: Task, loop: Path | None, threads: int, folder: Path, cache: Path
    ) -> None:
        self.task = task
        self.loop = loop
        self.folder = folder
        self._threads = threads
        self._cache = cache
        self._workers: dict[str, Worker] = {}
        self._spare: Worker | None = None
        """Has imported what a twin of the framework's baselines needs."""
        self._spared = False
        self._bound: dict[str, int] = {}
        """Number of the ring whose calls each loaded baseline has prepared."""

    def possible(self) -> dict[str, str]:
        """Every baseline's name, with why this task cannot have it (empty if it can)."""
        kind = self.task.reference.kind
        framework = "" if kind in ("array", "torch", "kernelbench") else "the reference uses numpy"
        return {
            "loop": "" if self.loop else "the task has no plain loop",
            "numpy": "" if kind in ("array", "numpy") else "the reference needs torch",
            "eager": framework,
            "fused": "" if self.task.reference.fused else "the framework has no single call for it",
            "compile": framework,
        }

    def worker(self, name: str, ring: Ring) -> Worker:
        """A worker that runs baseline ``name`` on ``ring``.

        Raises:
            Rejected: the baseline cannot be run here; its reason says why.
        """
        program = program_of(name)
        if program not in self._workers:
            self._workers[program] = self.start(program)
        worker = self._workers[program]
        if name not in self._bound:
            with self._gone_if_dead(name, worker), self._spare_beside(program, name):
                worker.load(self._message(name), LOAD_SECONDS)
            self._bound[name] = -1
        if self._bound[name] != ring.number:
            with self._gone_if_dead(name, worker):
                worker.bind(ring, COMPILE_SECONDS, self.called(name))
            self._bound[name] = ring.number
        return worker

    @contextlib.contextmanager
    def _gone_if_dead(self, name: str, worker: Worker) -> Iterator[None]:
        """Whoever broke is not asked again, also not as another baseline."""
        try:
            yield
        except Rejected:
            if worker.process.poll() is not None:
                self.drop(name)
            raise

    @contextlib.contextmanager
    def _spare_beside(self, program: str, name: str) -> Iterator[None]:
        """A process for a twin imports the framework at the same time: that takes seconds.

        Nobody depends on it: where it fails, the twin starts one of its own.
        """
        if program != "torch" or self._spared:
            yield
            return
        self._spared = True
        with contextlib.suppress(KernelwrightError):
            self._spare = self.start(program)
        beside = threading.Thread(target=self._prepare_spare, args=(name,), daemon=True)
        beside.start()
        try:
            yield
        finally:
            beside.join()

    def _prepare_spare(self, name: str) -> None:
        spare = self._spare
        if spare is None:
            return
        try:
            spare.load(self._message(name), LOAD_SECONDS)
        except Rejected:
            self._spare = None
            spare.close()

    def called(self, name: str) -> dict[str, str]:
        """What tells a process of several baselines which one is meant."""
        return {"baseline": name} if program_of(name) == "torch" else {}

    def drop(self, name: str) -> None:
        """Forget the process that runs ``name``; it is started again when asked for."""
        program = program_of(name)
        worker = self._workers.pop(program, None)
        self._bound = {one: at for one, at in self._bound.items() if program_of(one) != program}
        if worker is not None:
            worker.close()

    def twin(self, name: str, ring: Ring) -> Worker:
        """A second, separate worker of the same baseline; the caller closes it.

        Raises:
            Rejected: it broke.
        """
        program = program_of(name)
        spare, self._spare = self._spare, None
        if spare is not None and program != "torch":
            spare.close()
            spare = None
        worker = spare or self.start(program)
        try:
            worker.load(self._message(name), LOAD_SECONDS)
            worker.bind(ring, COMPILE_SECONDS)
        except BaseException:
            worker.close()
            raise
        return worker

    def start(self, program: str, library: Path | None = None) -> Worker:
        """A fresh process that can load baselines of ``program``.

        Args:
            program: a value of the table above.
            library: of ``loop``, another one than the task's plain loop.

        Raises:
            PrerequisiteError: there is no room for another process.
        """
        library = library or self.loop
        bound = program != "loop" or library is None or cores.only_openmp(library)
        env = environment(self._threads, self.folder, self._cache, bound=bound)
        ours, theirs = Channel.pair()
        process: Process
        try:
            if program == "loop":
                process = sandbox.spawn(
                    "run.py",
                    [str(theirs.fileno())],
                    folder=self.folder,
                    fds=(theirs.fileno(),),
                    mode="off",
                    env=env,
                )
            else:
                module = "kernelwright.evaluation.oracle.rival"
                process = Guarded(module, theirs.fileno(), env | NO_HEADERS)
        except OSError as problem:
            raise scarce(problem) or JudgeError(f"no baseline starts: {problem}") from problem
        finally:
            theirs.close()
        worker = Worker(process, ours, f"the baseline ({program})")
        try:
            if program == "loop":
                worker.ready()
        except BaseException:
            worker.close()
            raise
        return worker

    def close(self) -> None:
        """End every baseline's process."""
        for worker in (*self._workers.values(), self._spare):
            if worker is not None:
                worker.close()
        self._workers.clear()
        self._spare = None

    def _message(self, name: str) -> dict[str, Any]:
        if name == "loop":
            return {"library": str(self.loop), "entry": self.task.entry}
        return {"task": self.task.model_dump(mode="json"), "baseline": name}


def unavailable(rejection: Rejected) -> str:
    """Why a baseline is missing, for people."""
    if rejection.finding.outcome is Outcome.UNSUPPORTED:
        return rejection.finding.reason.partition(": ")[2] or rejection.finding.reason
    return rejection.finding.reason
