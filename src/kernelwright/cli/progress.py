"""Progress for whoever waits: a bar on a terminal, plain lines for a pipe or a log."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from kernelwright.cli import phrases
from kernelwright.cli.lines import lines
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Session
from kernelwright.records.run import Budget, Run, Spent
from kernelwright.records.rung import Rung
from kernelwright.records.task import Task
from kernelwright.report import text
from kernelwright.search.observer import Observer, Progress
from kernelwright.search.summary import RunSummary

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

SHOWN_AT_ONCE = 0.2
"""Seconds between two changes of the line: more often is flicker."""


@contextmanager
def watching(stream: TextIO, *, debug: bool, quiet: bool = False) -> Iterator[Observer | None]:
    """An observer that draws on ``stream`` or writes to it; None for who wants quiet.

    Args:
        stream: standard error; bars are drawn only if it is a terminal.
        debug: send our log to the stream, from its lowest level.
        quiet: no progress.
    """
    logging.basicConfig(
        stream=stream,
        level=logging.DEBUG if debug else logging.WARNING,
        format="%(levelname)s %(name)s: %(message)s",
        force=True,
    )
    if quiet:
        yield None
        return
    if not stream.isatty():
        with lines(stream) as observer:
            yield observer
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    # Markup would swallow the brackets of an interval.
    words = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), BarColumn(24), TimeElapsedColumn(), words)
    with Bars(*columns, console=Console(file=stream, highlight=False), transient=True) as bars:
        yield Watcher(bars, bars.add_task("starting", total=None))


class Watcher(Observer):
    """Draws one line that moves, and prints each new leader above it."""

    def __init__(self, bars: "Bars", line: "TaskID") -> None:
        self._bars = bars
        self._line = line
        self._began = time.monotonic()
        self._changed = 0.0

    def opening(self, task: Task) -> None:
        """Say what takes a while before the first candidate."""
        self._bars.update(self._line, description=f"{task.name}: timing the baselines")

    def session(self, run: Run, session: Session, progress: Progress) -> None:
        """Say which run it is, and what there is to beat."""
        self._began = time.monotonic()
        for line in phrases.begun(run, session):
            self._say(line)
        self._draw("first candidates", share(progress.spent, progress.budget))

    def dispatched(self, candidate: Candidate, rung: Rung) -> None:
        """Not shown: its answer is."""
        return

    def promoted(self, candidate: Candidate, rung: Rung) -> None:
        """Not shown: the look that follows is."""
        return

    def stopped(self, summary: RunSummary) -> None:
        """Not shown: the answer is."""
        return

    def drafted(self, candidate: Candidate, evaluation: Evaluation) -> None:
        """Only which of the user's own files did not build: drafts come by the dozen."""
        self._tell(candidate, evaluation)

    def evaluated(self, candidate: Candidate, evaluation: Evaluation, progress: Progress) -> None:
        """Move the bar by the share of the budget that is spent."""
        self._tell(candidate, evaluation)
        now = time.monotonic()
        if now - self._changed < SHOWN_AT_ONCE:
            return
        self._changed = now
        self._draw(
            f"{text.count(progress.spent.evaluations, 'look')} at "
            f"{text.count(progress.drafted, 'candidate')}; "
            f"{evaluation.rung.word} {phrases.name(candidate)}: {evaluation.outcome.value}",
            share(progress.spent, progress.budget),
        )

    def champion(self, candidate: Candidate, evaluation: Evaluation, speedup: float) -> None:
        """Print the new leader with its rival and interval."""
        if phrases.against(evaluation):
            seconds = time.monotonic() - self._began
            self._say(f"{seconds:5.0f} s  {phrases.leads(candidate, evaluation)}, to be confirmed")

    def _tell(self, candidate: Candidate, evaluation: Evaluation) -> None:
        if said := phrases.refused(candidate, evaluation):
            self._say(said)

    def _say(self, line: str) -> None:
        self._bars.console.print(line, markup=False)

    def _draw(self, line: str, done: float) -> None:
        self._bars.update(self._line, description=line, total=1.0, completed=done)


def share(spent: Spent, budget: Budget) -> float:
    """How much of the tightest budget is spent, from 0 to 1."""
    shares = [0.0]
    if budget.minutes:
        shares.append(spent.wall_s / (60 * budget.minutes))
    if budget.evaluations:
        shares.append(spent.evaluations / budget.evaluations)
    return min(1.0, max(shares))
