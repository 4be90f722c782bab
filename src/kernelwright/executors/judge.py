"""The thin side's handle on a verifier process: send a request, wait for its answer."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from kernelwright import errors
from kernelwright.checks.sensitivity import InsensitiveTask
from kernelwright.errors import JudgeError, KernelwrightError, scarce
from kernelwright.evaluation.channel import Channel, ChannelError
from kernelwright.evaluation.guarded import signal_name
from kernelwright.languages.base import WorkerKind
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob, Session
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.task import Task
from kernelwright.sandbox.scratch import scratch

OPEN_SECONDS = 1800.0
JUDGE_SECONDS = 1200.0
"""More than everything within may take, each of which has a deadline and an ending of its own."""
END_SECONDS = 5.0
KILLED_SECONDS = 30.0


class Built(NamedTuple):
    """What the language of a candidate made of it."""

    library: Path
    """A file."""
    worker: WorkerKind
    """Which process its language needs."""

    def message(self) -> dict[str, str]:
        """As it is sent."""
        return {"library": os.fspath(self.library), "worker": self.worker}


class Judge:
    """A verifier process for one task.

    Args:
        threads: how many the kernels use.
        cache: folder for what may be kept between sessions.

    Raises:
        PrerequisiteError: there is no room for it, or for another process.
    """

    def __init__(self, threads: int, cache: Path) -> None:
        self.threads = threads
        self.cache = cache
        self.folder = scratch("verifier")
        self._channel, theirs = Channel.pair()
        module = "kernelwright.evaluation.verifier"
        descriptor = theirs.fileno()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-m", module, str(descriptor), os.fspath(self.folder)],
                pass_fds=(descriptor,),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=_environment(threads, self.folder),
                start_new_session=True,
            )
        except OSError as problem:
            self._channel.close()
            shutil.rmtree(self.folder, ignore_errors=True)
            raise scarce(problem) or JudgeError(
                f"no verifier starts: {problem.strerror or problem}"
            ) from problem
        finally:
            theirs.close()

    def open(
        self,
        task: Task,
        libraries: dict[str, str],
        baselines: tuple[str, ...],
        known: Sensitivity | None = None,
        *,
        controls: bool = True,
    ) -> Session:
        """Load the task, time the baselines.

        Args:
            task: what will be judged.
            libraries: paths of ``peaks``, ``noop`` and ``loop`` (empty if there is none).
            baselines: names of the rivals to time.
            known: what the task's comparison was seen to tell apart, if that was seen before.
            controls: whether the judge is tested first.

        Raises:
            InsensitiveTask: the task's own comparison would accept a wrong answer.
            ControlError: a control failed.
            UserError: the task's reference fails, or something is missing.
            JudgeError: the verifier died.
        """
        message = {
            "do": "open",
            "task": task.model_dump(mode="json"),
            "threads": self.threads,
            "cache": str(self.cache),
            "baselines": list(baselines),
            "sensitivity": known.model_dump(mode="json") if known else None,
            "controls": controls,
            **libraries,
        }
        answer = self._ask(message, OPEN_SECONDS)
        if "insensitive" in answer:
            raise InsensitiveTask(Sensitivity.model_validate(answer["insensitive"]))
        return Session.model_validate(answer["session"])

    def judge(self, job: JudgeJob, built: Built, rival: Built | None = None) -> Evaluation:
        """The verdict on one built candidate.

        Args:
            job: what to judge, how closely.
            built: the candidate.
            rival: the job's other candidate, if there is one.

        Raises:
            JudgeError: the verifier died; there is no verdict.
        """
        message = {
            "do": "judge",
            "job": job.model_dump(mode="json"),
            "built": built.message(),
            "rival": rival.message() if rival else None,
        }
        return Evaluation.model_validate(self._ask(message, JUDGE_SECONDS)["evaluation"])

    def close(self) -> None:
        """End the verifier and all that it started; may be repeated."""
        self._channel.close()
        self._end(END_SECONDS)

    def kill(self) -> None:
        """End it, mid-sentence; used when the caller is interrupted, and when it cannot be trusted.

        May be called while another thread waits for an answer.
        """
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        self._end(END_SECONDS)

    def _end(self, seconds: float) -> None:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:  # it is stopped, or waits for a worker
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(KILLED_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _ask(self, message: dict[str, Any], timeout: float) -> dict[str, Any]:
        try:
            answer = self._channel.ask(message, timeout)
        except ChannelError as problem:
            code = self._process.poll()
            self.kill()  # what it may still send belongs to nobody
            raise _broken_off(problem, code) from problem
        if "error" in answer:
            kind = getattr(errors, str(answer["error"]), KernelwrightError)
            raise kind(answer["message"], answer.get("hint", ""))
        return answer


def _broken_off(problem: ChannelError, code: int | None) -> JudgeError:
    """What to say of a verifier that no longer answers.

    Args:
        problem: what was seen of its channel.
        code: its exit code, negative for a signal; None while it had not ended.
    """
    if code is None:
        how, hint = "it had not ended", ""
    elif code >= 0:
        how, hint = f"it ended with exit code {code}", ""
    else:
        how, hint = f"it was killed by {signal_name(-code)}", ""
        if -code == signal.SIGKILL:
            hint = "the system does so when memory runs out: free some, then run it again"
    return JudgeError(f"the verifier broke off: {how} ({problem})", hint or "run it again")


def _environment(threads: int, folder: Path) -> dict[str, str]:
    """Not a worker's: a verifier must not be bound to a core, and its own sums are small."""
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(Path.home()),
        "TMPDIR": os.fspath(folder),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": "1",
    }
