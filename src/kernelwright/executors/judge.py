"""The thin side's handle on a verifier process: send a request, wait for its answer."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from kernelwright import errors
from kernelwright.checks.sensitivity import InsensitiveTask
from kernelwright.errors import JudgeError, KernelwrightError
from kernelwright.evaluation.channel import Channel, ChannelError
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob, Session
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.task import Task

OPEN_SECONDS = 900.0
JUDGE_SECONDS = 900.0


class Judge:
    """A verifier process for one task.

    Args:
        threads: how many the kernels use.
        cache: folder for what may be kept between sessions.
    """

    def __init__(self, threads: int, cache: Path) -> None:
        self.threads = threads
        self.cache = cache
        ours, theirs = Channel.pair()
        self._channel = ours
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-m", "kernelwright.evaluation.verifier", str(theirs.fileno())],
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=_environment(threads),
            start_new_session=True,
        )
        theirs.close()

    def open(
        self,
        task: Task,
        libraries: dict[str, str],
        baselines: tuple[str, ...],
        known: Sensitivity | None = None,
    ) -> Session:
        """Load the task, time the baselines.

        Args:
            task: what will be judged.
            libraries: paths of ``peaks``, ``noop`` and ``loop`` (empty if there is none).
            baselines: names of the rivals to time.
            known: what the task's comparison was seen to tell apart, if that was seen before.

        Raises:
            InsensitiveTask: the task's own comparison would accept a wrong answer.
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
            **libraries,
        }
        answer = self._ask(message, OPEN_SECONDS)
        if "insensitive" in answer:
            raise InsensitiveTask(Sensitivity.model_validate(answer["insensitive"]))
        return Session.model_validate(answer["session"])

    def judge(self, job: JudgeJob, library: Path) -> Evaluation:
        """The verdict on one built candidate.

        Raises:
            JudgeError: the verifier died; there is no verdict.
        """
        message = {"do": "judge", "job": job.model_dump(mode="json"), "library": str(library)}
        return Evaluation.model_validate(self._ask(message, JUDGE_SECONDS)["evaluation"])

    def close(self) -> None:
        """End the verifier and all that it started."""
        self._channel.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def kill(self) -> None:
        """End it, mid-sentence; used when the caller is interrupted."""
        self._process.terminate()
        try:
            self._process.wait(timeout=3)
        except subprocess.TimeoutExpired:  # it is stopped, or waits for a worker
            os.killpg(self._process.pid, signal.SIGKILL)

    def _ask(self, message: dict[str, Any], timeout: float) -> dict[str, Any]:
        try:
            self._channel.send(message)
            answer, descriptors = self._channel.receive(timeout)
        except ChannelError as problem:
            code = self._process.poll()
            raise JudgeError(f"the verifier broke off ({problem}; exit code {code})") from problem
        for descriptor in descriptors:
            os.close(descriptor)
        if "error" in answer:
            kind = getattr(errors, str(answer["error"]), KernelwrightError)
            raise kind(answer["message"], answer.get("hint", ""))
        return answer


def _environment(threads: int) -> dict[str, str]:
    """Not a worker's: a verifier must not be bound to a core, and its own sums are small."""
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(Path.home()),
        "TMPDIR": tempfile.gettempdir(),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": "1",
    }
