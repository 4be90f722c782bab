"""A landscape: every point of a task's grid measured once, raw samples kept, at every rung.

It stands in for the device when schedulers, parents or proposers are compared over many seeds.
A look draws a bootstrap sample of the pairs recorded at that rung, so luck differs by seed while
the truth stays; the clock moves by the recorded seconds. A point or a rung that was not recorded
is counted and answered ``unsupported``, never invented.

The file is JSON lines in gzip (``*.jsonl.gz``), readable with ``zcat``, appended to while it is
measured: a head (task, session, plans), each source once, then a line for each candidate with
its evaluations. Lines cost more than a binary array, but hold failures and every other field of
a record without a second schema; samples keep six significant digits.
"""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.errors import UsageError
from kernelwright.proposers.base import seed_from
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob, Session
from kernelwright.records.measurement import Comparison, Measurement
from kernelwright.records.outcome import Outcome
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.records.task import Task
from kernelwright.search.score import score
from kernelwright.search.simulation import Simulation
from kernelwright.timing.statistics import bootstrap_median, decide, summarize

FORMAT = 1


@dataclass
class Landscape:
    """A grid in memory."""

    task: Task
    session: Session
    plans: tuple[RungPlan, ...]
    threads: int
    candidates: dict[str, Candidate] = field(default_factory=dict)
    looks: dict[tuple[str, Rung], Evaluation] = field(default_factory=dict)

    def quality(self, candidate: str) -> float | None:
        """The speedup that counts as the truth here.

        That of the look over several places where one was made, else of the full look.
        """
        known = (candidate, Rung.CONFIRM) in self.looks
        return self.speedup(candidate, Rung.CONFIRM if known else Rung.FULL)

    def speedup(self, candidate: str, rung: Rung) -> float | None:
        """What a look recorded, or None if it failed or was not made."""
        look = self.looks.get((candidate, rung))
        found = score(look) if look else None
        return found.speedup if found else None

    def recorded(self, candidate: str, rung: Rung) -> Evaluation | None:
        """What a look at that rung said, or the failure below it.

        A rung makes every check of those below, so a search that skips them meets the failure
        where it looks first, at the price of the look that found it.
        """
        for below in sorted(Rung):
            look = self.looks.get((candidate, below))
            if below == rung or (below < rung and look is not None and not look.passed):
                return look.model_copy(update={"rung": rung}) if look else None
        return None

    def best(self) -> float:
        """The best quality on the grid; 0 if nothing passed."""
        return max((self.quality(one) or 0.0 for one in self.candidates), default=0.0)

    def structures(self) -> list[Candidate]:
        """The first candidate of each source, in the order recorded."""
        first: dict[str, Candidate] = {}
        for candidate in self.candidates.values():
            first.setdefault(candidate.source, candidate)
        return list(first.values())


class LandscapeExecutor(Simulation):
    """Answers from a landscape."""

    def __init__(self, landscape: Landscape, *, drafts: int = 1, looks: int = 1) -> None:
        super().__init__(drafts=drafts, looks=looks)
        self._landscape = landscape
        self.missed = 0
        """Jobs whose point or rung is not in the grid."""

    def session(self, task: Task) -> Session:
        """The recorded one.

        Raises:
            UsageError: the landscape is of another task.
        """
        if task != self._landscape.task:
            raise UsageError(f"the landscape is of {self._landscape.task.name}, not {task.name}")
        return self._landscape.session

    def judge(self, job: JudgeJob) -> Evaluation:
        """The recorded outcome, with times drawn again."""
        rung = job.plan.rung
        recorded = self._landscape.recorded(job.candidate.id, rung)
        if recorded is None:
            self.missed += 1
            return Evaluation(
                candidate=job.candidate.id,
                rung=rung,
                outcome=Outcome.UNSUPPORTED,
                reason="not in the landscape",
            )
        return redrawn(recorded, job.seed)


def redrawn(recorded: Evaluation, seed: int) -> Evaluation:
    """The evaluation another sample of the same pairs would have given; without samples."""
    change: dict[str, Any] = {
        "comparisons": tuple(_compared(item, seed) for item in recorded.comparisons),
        "measurements": tuple(_measured(item, seed) for item in recorded.measurements),
        "seed": seed,
    }
    return recorded.model_copy(update=change)


def _compared(item: Comparison, seed: int) -> Comparison:
    if len(item.samples) < 2:
        return item
    own = seed_from(seed, item.workload, item.baseline)
    drawn = _drawn(item.samples, own)
    interval = bootstrap_median(drawn, seed=own)
    ratio = float(np.exp(interval.median))
    change = {
        "ratio": ratio,
        "low": float(np.exp(interval.low)),
        "high": float(np.exp(interval.high)),
        "decision": decide(interval, item.margin),
        "candidate_us": item.baseline_us / ratio,
        "samples": (),
    }
    return item.model_copy(update=change)


def _measured(item: Measurement, seed: int) -> Measurement:
    if len(item.samples_us) < 2:
        return item
    drawn = _drawn(item.samples_us, seed_from(seed, item.workload))
    times = summarize(drawn, item.time_us.discarded)
    return item.model_copy(update={"time_us": times, "samples_us": ()})


def _drawn(samples: Sequence[float], seed: int) -> list[float]:
    values = np.asarray(samples)
    picks = np.random.default_rng(seed).integers(0, len(values), len(values))
    return [float(value) for value in values[picks]]


def load(path: Path) -> Landscape:
    """Read a landscape; a line torn by a crash, and what follows it, is left out.

    Raises:
        UsageError: it is no landscape, or one of a newer format.
    """
    lines = _lines(path)
    head = next(lines, None)
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise UsageError(f"{path} is not a landscape of format {FORMAT}")
    try:
        return _landscape(head, lines)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise UsageError(
            f"{path} is damaged: {type(problem).__name__}", hint="bring it back from a copy"
        ) from problem


def _landscape(head: dict[str, Any], lines: Iterable[dict[str, Any]]) -> Landscape:
    landscape = Landscape(
        task=Task.model_validate(head["task"]),
        session=Session.model_validate(head["session"]),
        plans=tuple(RungPlan.model_validate(plan) for plan in head["plans"]),
        threads=head["threads"],
    )
    sources: dict[str, str] = {}
    for line in lines:
        if "source" in line:
            sources[line["source"]] = line["text"]
            continue
        text = {"source": sources[line["candidate"]["source"]]}
        candidate = Candidate.model_validate(line["candidate"] | text)
        landscape.candidates[candidate.id] = candidate
        for look in line["looks"]:
            evaluation = Evaluation.model_validate(look)
            landscape.looks[candidate.id, evaluation.rung] = evaluation
    return landscape


def head_line(landscape: Landscape) -> dict[str, Any]:
    """The first line of a file."""
    return {
        "format": FORMAT,
        "task": landscape.task.model_dump(mode="json"),
        "session": landscape.session.model_dump(mode="json"),
        "plans": [plan.model_dump(mode="json") for plan in landscape.plans],
        "threads": landscape.threads,
    }


def append(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Add lines as one gzip member: whole or, after a crash, recognisably torn."""
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    with path.open("ab") as file:
        file.write(gzip.compress(text.encode()))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for text in file:
                yield json.loads(text)
    except FileNotFoundError as problem:
        raise UsageError(f"there is no landscape at {path}") from problem
    except (EOFError, zlib.error, gzip.BadGzipFile, ValueError, RecursionError):
        return
