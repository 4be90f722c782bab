"""Every expert and plain loop of the core suite, what it is built at, and a jury that checks it.

The jury is the judge's own stages under a fixed secret and without its clocks: no baseline is
timed, so a busy machine changes nothing. All candidates of an operation share its answers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.candidates.header import parse
from kernelwright.candidates.tunables import Point, space
from kernelwright.checks.finding import Finding, Rejected
from kernelwright.devices import detect
from kernelwright.evaluation import stages
from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.cases import Cases
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.ring import Ring
from kernelwright.evaluation.rivals import Rivals
from kernelwright.evaluation.trial import Trial
from kernelwright.languages.base import BuildResult
from kernelwright.languages.cpp import Cpp
from kernelwright.records.candidate import Candidate
from kernelwright.records.rung import Stage
from kernelwright.records.task import Case, Task, Workload
from kernelwright.tasks import contract, suites
from kernelwright.tasks.edges import ITEM_BYTES, edge_cases
from kernelwright.tasks.load import load_task

SECRET, OTHER_SECRET = 20240229, 20280229
BEFORE_EDGES: tuple[Stage, ...] = ("smoke", "declared", "stability", "repeats")
CALL_SECONDS = 60.0
BUILDS_AT_ONCE = 2


class Source(NamedTuple):
    """A kernel that ships with the package."""

    op: str
    path: Path


def ops() -> tuple[str, ...]:
    return suites.suites()["core"]


def sources(op: str) -> list[Source]:
    """The experts of an operation for the CPU, then its plain loop."""
    package = Path(str(files("kernelwright")))
    experts = sorted((package / "experts" / op / "cpp").glob("*.cpp"))
    return [Source(op, path) for path in (*experts, Path(str(suites.folder(op))) / "baseline.cpp")]


@cache
def task_of(op: str) -> Task:
    def inspect(request: dict[str, object]) -> dict[str, object]:
        raise AssertionError("a task of ours needs no inspection")

    return load_task(op, inspector=inspect)


def workloads(task: Task) -> list[Workload]:
    """Those for the CPU, main first and the smallest last."""
    order = ("main", "extra", "smoke")
    here = [one for one in task.workloads if one.device == "cpu"]
    return sorted(here, key=lambda one: order.index(one.role))


def points(source: Source) -> list[Point]:
    """Every valid point at the first workload to which the kernel applies."""
    task, header = task_of(source.op), parse(source.path.read_text(), "cpp")
    for workload in workloads(task):
        values = contract.extents(task, workload.axes) | {"cores": detect.cores()}
        if found := list(space(header, values).points()):
            return found
    raise AssertionError(f"{source.path.name} has no valid point for any workload")


def candidates(source: Source) -> list[Candidate]:
    """The kernel at its default point and, where there are more, at one drawn by its name."""
    text, (default, *others) = source.path.read_text(), points(source)
    drawn = random.Random(source.path.name).sample(others, min(1, len(others)))
    return [make_candidate(text, "cpp", point) for point in (default, *drawn)]


class Workshop:
    """Builds a few candidates at a time, ahead of those who wait for them.

    Args:
        cache: folder of built kernels.
    """

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.language = Cpp("g++", cache)
        self.pool = ThreadPoolExecutor(BUILDS_AT_ONCE)
        self._ordered: dict[str, Future[BuildResult]] = {}

    def order(self, task: Task, candidate: Candidate) -> Future[BuildResult]:
        if candidate.id not in self._ordered:
            workspace = contract.wants_workspace(task, candidate.source)
            self._ordered[candidate.id] = self.pool.submit(
                self.language.build,
                candidate,
                entry=task.entry,
                prototype=contract.prototype(task, "cpp", workspace=workspace),
            )
        return self._ordered[candidate.id]

    def library(self, task: Task, candidate: Candidate) -> Path:
        built = self.order(task, candidate).result()
        assert built.library is not None, (built.reason, built.build.log)
        return built.library

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)


class Verdict(NamedTuple):
    """The first finding and the stage that made it; ``("", None)`` for a pass."""

    stage: str
    finding: Finding | None


class Jury:
    """Judges candidates of one operation.

    Args:
        op: the operation.
        folder: where workers may write.
    """

    def __init__(self, op: str, folder: Path) -> None:
        self.op, self.task = op, task_of(op)
        self.oracle = Oracle()
        self.oracle.load(self.task)
        self.answers = Answers(self.task, self.oracle, SECRET)
        self.appeal = Answers(self.task, self.oracle, OTHER_SECRET)
        self.rivals = Rivals(self.task, None, detect.cores(), folder, folder)
        *timed, smoke = [contract.resolve(self.task, one) for one in workloads(self.task)]
        self.cases = Cases(smoke, timed, list(_edges(self.task)), [])
        self.questions = dict(self._questions(smoke))
        self._rings: dict[str, Ring] = {}

    def judge(self, library: Path) -> Verdict:
        """What the judge says, after an appeal where it may have been luck.

        An edge shape may have a single output, so that the honest error is a single sample: about
        once in a hundred draws it is so small by chance that an honest sum exceeds it. A wrong
        kernel stays wrong under another secret.
        """
        verdict = self._judge(library, self.answers)
        if verdict.stage == "edges":
            verdict = self._judge(library, self.appeal)
        return verdict

    def _judge(self, library: Path, answers: Answers) -> Verdict:
        """Every stage, and before the edges the questions that no stage asks."""
        with closing(self.rivals.start("loop")) as worker:
            trial = Trial(self.task, worker, answers, CALL_SECONDS)
            try:
                with trial.check("load"):
                    trial.load({"library": str(library), "entry": trial.task.entry})
                for stage in BEFORE_EDGES:
                    stages.run(stage, trial, self.cases, self._ring)
                for name, question in self.questions.items():
                    with trial.check(name):
                        trial.correct(question)
                stages.run("edges", trial, self.cases, self._ring)
            except Rejected as rejection:
                self._forget_rings()
                return Verdict(trial.checks[-1].name, rejection.finding)
        return Verdict("", None)

    def _ring(self, case: Case, *, sealed: bool = False) -> Ring:
        key = f"{case.workload}, sealed" if sealed else case.workload
        if key not in self._rings:
            self._rings[key] = Ring.private(case, sealed=sealed)
        return self._rings[key]

    def _forget_rings(self) -> None:
        for ring in self._rings.values():
            ring.close()
            ring.inputs.close()
        self._rings.clear()

    def _questions(self, case: Case) -> Iterator[tuple[str, Question]]:
        """Contents by name: extremes of the first input."""
        answers = self.answers
        for name in ("a row of -inf", "zeros", "offset above", "offset below"):
            contents = answers.draw(case, SECRET)
            _change(name, contents[case.inputs[0].name])
            yield name, Question(case, contents, answers.answer(case, contents))

    def close(self) -> None:
        self._forget_rings()
        self.rivals.close()
        self.oracle.close()


def _change(name: str, first: np.ndarray) -> None:
    match name:
        case "a row of -inf":
            first.reshape(-1, first.shape[-1])[-1] = -np.inf
        case "zeros":
            first[...] = 0
        case "offset above":
            first += 1e4
        case "offset below":
            first -= 1e4


def _edges(task: Task) -> Iterator[Case]:
    """The edge shapes with every choice of scalars a workload makes, in aligned and odd storage."""
    here = workloads(task)
    for scalars in {str(one.scalars): one.scalars for one in here}.values():
        chosen = tuple(one.model_copy(update={"scalars": scalars}) for one in here)
        for case in edge_cases(task.model_copy(update={"workloads": chosen}), "cpu"):
            least = max(ITEM_BYTES[one.dtype] for one in (*case.inputs, *case.outputs))
            for alignment in {case.alignment, least}:
                note = f"{case.note}, {scalars}, aligned to {alignment}"
                yield case.model_copy(update={"alignment": alignment, "note": note})
