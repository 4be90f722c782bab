"""Progress for a pipe or a log: a line when something happens, and one now and then when not.

Refuses to be worth a failure: where nobody reads any more, it falls silent.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from kernelwright.cli import phrases
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Session
from kernelwright.records.run import Run
from kernelwright.records.rung import Rung
from kernelwright.records.task import Task
from kernelwright.report import text
from kernelwright.search.observer import Observer, Progress

EVERY_S = 10.0
"""Seconds of silence after which a line says that work goes on."""


@contextmanager
def lines(stream: TextIO, every_s: float = EVERY_S) -> Iterator["Lines"]:
    """An observer that writes lines to ``stream``, and a thread that breaks long silences."""
    observer, over = Lines(stream), threading.Event()

    def remind() -> None:
        while not over.wait(max(0.0, every_s - observer.silence_s())):
            if observer.silence_s() >= every_s:
                observer.remind()

    thread = threading.Thread(target=remind, name="progress", daemon=True)
    thread.start()
    try:
        yield observer
    finally:
        over.set()
        thread.join()


class Lines(Observer):
    """Writes what a run does, each line after the seconds since the command began.

    Args:
        stream: where to.
        clock: seconds, monotonic.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._began = self._last = self._told = clock()
        self._lock = threading.Lock()
        self._progress: Progress | None = None
        self._candidates = 0

    def silence_s(self) -> float:
        """Seconds since the last line."""
        return self._clock() - self._last

    def remind(self) -> None:
        """Say where things stand."""
        progress = self._progress
        if progress is None:
            self._say("at work")
            return
        parts = [
            text.count(self._candidates, "candidate"),
            text.count(progress.spent.evaluations, "look"),
        ]
        if progress.leader and progress.leading:
            parts.append(phrases.leads(progress.leading, progress.leader))
        left = self._left(progress)
        self._say("; ".join(filter(None, (", ".join(parts), left))))

    def opening(self, task: Task) -> None:
        """Say what takes a while before the first candidate."""
        self._say(f"{task.name}: timing the baselines")

    def session(self, run: Run, session: Session, progress: Progress) -> None:
        """Say which run it is, and what there is to beat."""
        self._tell(progress)
        for line in phrases.begun(run, session):
            self._say(line)

    def dispatched(self, candidate: Candidate, rung: Rung) -> None:
        """Count candidates: drafts end by the dozen before the first look."""
        self._candidates += rung is Rung.DRAFT

    def drafted(self, candidate: Candidate, evaluation: Evaluation) -> None:
        """Say which of the user's own files did not build."""
        if said := phrases.refused(candidate, evaluation):
            self._say(said)

    def evaluated(self, candidate: Candidate, evaluation: Evaluation, progress: Progress) -> None:
        """Remember where the run stands; a confirm is said."""
        self._tell(progress)
        if evaluation.rung is Rung.CONFIRM:
            found = phrases.against(evaluation) or evaluation.outcome.value
            self._say(f"{phrases.name(candidate)}, in fresh processes: {found}")
        elif said := phrases.refused(candidate, evaluation):
            self._say(said)

    def promoted(self, candidate: Candidate, rung: Rung) -> None:
        """Say whose number is about to be confirmed."""
        if rung is Rung.CONFIRM:
            self._say(f"confirming {phrases.name(candidate)}")

    def champion(self, candidate: Candidate, evaluation: Evaluation, speedup: float) -> None:
        """Say who leads, with rival and interval."""
        if phrases.against(evaluation):
            self._say(f"{phrases.leads(candidate, evaluation)}, to be confirmed")

    def _tell(self, progress: Progress) -> None:
        self._progress, self._candidates = progress, progress.drafted
        self._told = self._clock()

    def _left(self, progress: Progress) -> str:
        """What is left of the budget, by this process's clock since the last answer."""
        parts = []
        if progress.budget.minutes is not None:
            wall_s = progress.spent.wall_s + self._clock() - self._told
            parts.append(f"{max(0.0, 60 * progress.budget.minutes - wall_s):.0f} s")
        if progress.budget.evaluations is not None:
            left = progress.budget.evaluations - progress.spent.evaluations
            parts.append(text.count(left, "look"))
        return f"{' and '.join(parts)} left" if parts else ""

    def _say(self, line: str) -> None:
        with self._lock:
            self._last = self._clock()
            try:
                self._stream.write(f"{self._last - self._began:5.0f} s  {line}\n")
                self._stream.flush()
            except (OSError, ValueError):
                # Nobody reads any more, or the stream is closed: the run is worth more than this.
                return
