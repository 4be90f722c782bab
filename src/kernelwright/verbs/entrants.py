"""Candidates that a user names by a file or by the run that they won, and their common task."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from kernelwright.errors import UsageError
from kernelwright.records.candidate import Candidate
from kernelwright.records.task import Task
from kernelwright.search.summary import RunSummary, summarise
from kernelwright.settings import Settings
from kernelwright.ship.file import winner
from kernelwright.store.step import content_hash
from kernelwright.tasks import suites
from kernelwright.verbs import setup


class Entrant(NamedTuple):
    """One of those that are to be judged."""

    candidate: Candidate
    origin: str
    """Its file, or the run that it won."""


class Match(NamedTuple):
    """Those who meet, and where."""

    task: Task
    entrants: tuple[Entrant, ...]
    settings: Settings
    """With the threads of the runs, where nothing else was asked for."""


def is_file(word: str) -> bool:
    """Whether a word names a file, or is a source itself; else it names a run."""
    if "/" in word or "\n" in word or Path(word).suffix:
        return True
    try:
        return Path(word).is_file()
    except OSError:  # no file can have that name
        return False


def must_name_a_run(word: str) -> None:
    """Say what to do with a file where a run is wanted.

    Raises:
        UsageError: the word names a file.
    """
    if is_file(word):
        raise UsageError(
            f"{word} is a file, not a run",
            hint=f"kernelwright evaluate TASK {word} --rung confirm judges a file as closely",
        )


def match(
    words: Sequence[str], task: Task | str | None, threads: int | None, settings: Settings
) -> Match:
    """What the words name.

    Args:
        words: files, sources or runs.
        task: as the user named it, or the task itself; None: that of the runs.
        threads: as the user gave them; None: those of the runs, if there are any.
        settings: for what the runs do not decide.

    Raises:
        UsageError: no such file or run, a task in their place, a run without a winner, or tasks
            that differ.
    """
    _must_name_no_task(words)
    runs = _runs([word for word in words if not is_file(word)], settings)
    common = _task(task, list(runs.values()))
    if runs and threads is None:
        settings = Settings.load(settings.model_dump() | {"threads": _threads(runs)})
    entrants = tuple(
        _winner(runs[word]) if word in runs else _file(word, common, settings) for word in words
    )
    return Match(common, entrants, settings)


def _must_name_no_task(words: Sequence[str]) -> None:
    """Say where a task belongs that stands in the place of a candidate."""
    for word in words:
        if word in suites.names() and not is_file(word):
            files = " ".join(filter(is_file, words)) or "ONE"
            raise UsageError(
                f"{word} is a task, not a candidate",
                hint=f"name two candidates: kernelwright compare {files} OTHER --task {word}",
            )


def _runs(names: Sequence[str], settings: Settings) -> dict[str, RunSummary]:
    if not names:
        return {}
    with setup.store(settings, writable=False) as store:
        return {name: summarise(store, store.run(name).id) for name in names}


def _winner(summary: RunSummary) -> Entrant:
    return Entrant(winner(summary)[0], f"run {summary.run.id}")


def _file(word: str, task: Task, settings: Settings) -> Entrant:
    found = setup.candidate(word, task, settings)
    return Entrant(found, found.origin or "the source that was given")


def _task(named: Task | str | None, runs: Sequence[RunSummary]) -> Task:
    if named is None and not runs:
        raise UsageError("what do these files compute?", hint="say it: --task TASK")
    wanted = setup.task(named) if isinstance(named, str) else named or runs[0].task
    for one in runs:
        if content_hash(one.task) == content_hash(wanted):
            continue
        other = f"of task {one.task.name}"
        if one.task.name == wanted.name:
            other = f"of another version of task {one.task.name}"
        hint = "leave out --task: a run knows its own" if named is not None else ""
        raise UsageError(
            f"run {one.run.id} is {other}, not of {wanted.name}",
            hint=hint or "only candidates of one task can be compared",
        )
    return wanted


def _threads(runs: dict[str, RunSummary]) -> int:
    found = {one.run.spec.threads for one in runs.values()}
    if len(found) > 1:
        counts = " and ".join(map(str, sorted(found)))
        raise UsageError(f"the runs began with {counts} threads", hint="--threads N decides")
    return found.pop()
