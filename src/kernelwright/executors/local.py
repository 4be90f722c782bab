"""Judge on this machine: a pool that builds, and one queue for the processor as the device.

On a CPU the compiler and the kernels share cores, so building and measuring take turns: a look
has the machine to itself, and drafts wait. Building never holds a verifier.
"""

import queue
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from kernelwright.devices import detect
from kernelwright.errors import JudgeError, KernelwrightError, scarce
from kernelwright.evaluation.rivals import NAMES
from kernelwright.executors.builder import Builder
from kernelwright.executors.devices import must_run_here
from kernelwright.executors.draft import draft_evaluation
from kernelwright.executors.gate import Gate
from kernelwright.executors.judge import Built, Judge
from kernelwright.executors.judges import Judges
from kernelwright.languages.cache import cache_folder
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Completion, JudgeJob, Session
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.task import Task
from kernelwright.sandbox import Group
from kernelwright.sandbox.scratch import workroom

QUICK_BASELINES = ("loop", "numpy", "eager", "fused")
CONFIRM_SECONDS = 3.0
"""What a confirm adds to opening a session: a build from nothing, and moving about. The first
opening of a task takes longer than the confirm's, which knows the processor and the task."""
COMPILE_SECONDS = 9.0
"""What compiling the reference with the framework's compiler adds to a fresh session."""


class LocalExecutor:
    """Builds and judges candidates on the CPU of this machine.

    Args:
        threads: how many the kernels and their baselines use.
        sandbox: how strictly the build of a task's own loop is confined; for a candidate its job
            says so.
        compiler: ``g++`` or ``clang++``; empty takes the first that is installed.
        cache: folder for built libraries and measured peaks.
        baselines: rivals timed when a task is opened.
    """

    simulated = False

    def __init__(
        self,
        threads: int = 0,
        sandbox: Literal["auto", "require", "off"] = "auto",
        compiler: str = "",
        cache: Path | None = None,
        baselines: tuple[str, ...] = QUICK_BASELINES,
    ) -> None:
        self.threads = threads or detect.cores()
        self.sandbox = sandbox
        self.compiler = compiler
        self.cache = cache or cache_folder()
        self.baselines = baselines
        self._answers: queue.Queue[Completion | KernelwrightError] = queue.Queue()
        self._gate = Gate()
        self._jails = Group()
        self._builders = ThreadPoolExecutor(detect.cores(), "kernelwright-build")
        self._device = ThreadPoolExecutor(1, "kernelwright-device")
        self._judges = Judges(self.threads, self.cache)
        self._builder = Builder(compiler, sandbox, self.cache)
        self._judge: Judge | None = None
        self._sensitivity: Sensitivity | None = None

    def open(
        self, task: Task, known: Sensitivity | None = None, *, controls: bool = True
    ) -> Session:
        """Start a verifier for ``task`` and time the baselines; see :class:`Executor`."""
        with self._jails.joined():
            libraries = self._builder.libraries(task)
        return self._device.submit(self._open, task, libraries, known, controls).result()

    def _open(
        self, task: Task, libraries: dict[str, str], known: Sensitivity | None, controls: bool
    ) -> Session:
        if self._judge is not None:
            self._judges.dismiss(self._judge)
        self._judge = self._judges.call()
        started = time.monotonic()
        with self._gate.measure():
            session = self._judge.open(task, libraries, self.baselines, known, controls=controls)
        self._sensitivity = session.sensitivity
        seconds = time.monotonic() - started + CONFIRM_SECONDS
        if any(one.name == "eager" and one.time_us for one in session.baselines):
            seconds += COMPILE_SECONDS
        return session.model_copy(update={"confirm_s": seconds})

    def capacity(self, rung: Rung) -> int:
        """Builds: one a core and as many waiting; looks: one."""
        return 2 * detect.cores() if rung is Rung.DRAFT else 1

    def submit(self, job: JudgeJob) -> None:
        """Take a job; its answer comes from :meth:`wait`."""
        self._must_be_open()
        if job.plan.rung is Rung.DRAFT:
            self._builders.submit(self._answer, self._draft, job)
        else:
            self._device.submit(self._answer, self._look, job)

    def wait(self, timeout: float | None = None) -> Completion | None:
        """The next answer; see :class:`Executor`."""
        self._must_be_open()
        try:
            answer = self._answers.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(answer, KernelwrightError):
            raise answer
        return answer

    def close(self) -> None:
        """Kill what runs and free everything."""
        try:
            self._end()
        except KeyboardInterrupt:
            self._end()  # whoever is impatient still wants nothing left behind
            raise

    def _end(self) -> None:
        self._judges.kill()
        self._jails.kill()
        self._builders.shutdown(wait=True, cancel_futures=True)
        self._device.shutdown(wait=True, cancel_futures=True)
        self._judges.close()
        self._answers.put(JudgeError("the executor was closed"))  # for another thread that waits

    def _must_be_open(self) -> None:
        if self._judges.ended:
            raise JudgeError("the executor was closed")

    def _answer(self, work: Callable[[JudgeJob], Evaluation], job: JudgeJob) -> None:
        try:
            with self._jails.joined():
                evaluation = work(job)
            self._answers.put(Completion(number=job.number, evaluation=evaluation))
        except KernelwrightError as problem:
            self._answers.put(problem)
        except Exception as problem:  # noqa: BLE001 - a thread must not die silently
            fault = scarce(problem) or JudgeError(f"{type(problem).__name__}: {problem}")
            fault.__cause__ = problem
            self._answers.put(fault)

    def _draft(self, job: JudgeJob) -> Evaluation:
        with self._gate.build():
            built = self._builder.candidate(job, job.candidate)
        return draft_evaluation(job, built)

    def _look(self, job: JudgeJob) -> Evaluation:
        must_run_here(job.candidate.language)
        if job.plan.rung is Rung.CONFIRM:
            return self._confirm(job)
        built = self._builder.candidate(job, job.candidate)
        if built.library is None:
            return draft_evaluation(job, built)
        rival = self._rival(job)
        if self._judge is None:
            raise JudgeError("a look was asked for before the task was opened")
        mine = Built(built.library, built.worker)
        with self._gate.measure():
            evaluation = self._judge.judge(job, mine, rival)
        return evaluation.model_copy(update={"build": built.build})

    def _rival(self, job: JudgeJob) -> Built | None:
        if job.rival is None:
            return None
        built = self._builder.candidate(job, job.rival)
        if built.library is None:
            raise JudgeError(f"a rival that does not build cannot be timed: {built.reason}")
        return Built(built.library, built.worker)

    def _confirm(self, job: JudgeJob) -> Evaluation:
        """Fresh build, fresh processes, fresh seeds, every baseline."""
        if job.rival is not None:
            raise JudgeError("a confirm compares with baselines, not with another candidate")
        began = time.monotonic()
        with workroom("confirm") as folder:
            known = self._builder.candidate(job, job.candidate)
            built = self._builder.candidate(job, job.candidate, cache=folder)
            if built.library is None:
                return draft_evaluation(job, built)
            libraries = self._builder.libraries(job.task)
            mine = Built(built.library, built.worker)
            with self._gate.measure():
                fresh = self._judges.call()
                try:
                    session = fresh.open(job.task, libraries, NAMES, self._sensitivity)
                    evaluation = fresh.judge(_later(job, time.monotonic() - began), mine)
                finally:
                    self._judges.dismiss(fresh)
        missing = {one.name: one.missing for one in session.baselines if one.missing}
        evidence = {
            **evaluation.evidence,
            "strongest": session.strongest,
            "missing_baselines": missing,
            "same_binary_as_first_build": built.build.binary == known.build.binary,
        }
        return evaluation.model_copy(update={"build": built.build, "evidence": evidence})


def _later(job: JudgeJob, seconds: float) -> JudgeJob:
    """The job when so much of its time is over."""
    if job.time_s is None:
        return job
    return job.model_copy(update={"time_s": max(0.0, job.time_s - seconds)})
