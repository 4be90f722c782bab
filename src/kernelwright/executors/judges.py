"""The verifiers of one executor; once they were sent away, none is started any more."""

import threading
from pathlib import Path

from kernelwright.errors import JudgeError
from kernelwright.executors.judge import Judge


class Judges:
    """Those that are at work.

    Args:
        threads: how many the kernels use.
        cache: folder for what may be kept between sessions.
    """

    def __init__(self, threads: int, cache: Path) -> None:
        self._threads = threads
        self._cache = cache
        self._lock = threading.Lock()
        self._present: list[Judge] = []
        self.ended = False

    def call(self) -> Judge:
        """A fresh one.

        Raises:
            JudgeError: they were sent away.
            PrerequisiteError: there is no room for it.
        """
        with self._lock:
            if self.ended:
                raise JudgeError("the executor was closed")
            self._present.append(Judge(self._threads, self._cache))
            return self._present[-1]

    def dismiss(self, judge: Judge) -> None:
        """End one of them; may be repeated."""
        judge.close()
        with self._lock:
            if judge in self._present:
                self._present.remove(judge)

    def kill(self) -> None:
        """End all of them, mid-sentence, whoever waits for their answers; may be repeated."""
        with self._lock:
            self.ended = True
            present = list(self._present)
        for judge in present:
            judge.kill()

    def close(self) -> None:
        """Free what the killed ones left; nobody may wait for them any more."""
        for judge in list(self._present):
            self.dismiss(judge)
