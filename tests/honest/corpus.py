"""Every honest kernel there is: those of this folder, and the experts that ship with the package.

A kernel is one file, `<task>/<name>.cpp` or `.py`, and is judged for the task of its folder: a
built-in one, one of `tasks/` here, or one of the examples in KernelBench's format. All of them
must pass; one that does not is a fault of the judge.
"""

from __future__ import annotations

import random
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.candidates.header import parse
from kernelwright.candidates.tunables import space
from kernelwright.devices import detect
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.records.candidate import Candidate
from kernelwright.records.task import Task
from kernelwright.tasks import contract, suites
from kernelwright.tasks.load import load_task

HERE = Path(__file__).parent
TASKS = HERE / "tasks"
EXAMPLES = HERE.parents[1] / "examples" / "kernelbench"
LANGUAGES = {".cpp": "cpp", ".py": "torch"}
WRAPS = "# wraps: "
"""Begins a file that does little more than call one operator of the framework, then names it."""
REJECTED: dict[str, str] = {}
"""Kernels that the judge does not let pass though it should, and why."""
ROLES = ("main", "extra", "smoke")


class Kernel(NamedTuple):
    """One file, and the name of the task that it solves."""

    task: str
    path: Path
    ships: bool
    """An expert of the package rather than a file of this corpus."""

    @property
    def name(self) -> str:
        """Unique among all kernels."""
        return f"{self.task}/{'expert-' if self.ships else ''}{self.path.stem}"

    @property
    def language(self) -> str:
        """What it is written in, as languages are called."""
        return LANGUAGES[self.path.suffix]

    @property
    def wraps(self) -> str:
        """The one operator of the framework that it calls, or empty."""
        first = self.path.read_text().partition("\n")[0]
        return first.removeprefix(WRAPS).strip() if first.startswith(WRAPS) else ""


def kernels() -> list[Kernel]:
    """All of them, in the order of their names."""
    package = Path(str(files("kernelwright"))) / "experts"
    files_here = [path for path in HERE.glob("*/*") if path.suffix in LANGUAGES]
    own = [Kernel(path.parent.name, path, False) for path in files_here]
    known = set(suites.names()) | {path.name for path in TASKS.iterdir()}
    ships = [
        Kernel(path.parts[-3], path, True)
        for path in package.glob("*/cpp/*.cpp")
        if path.parts[-3] in known
    ]
    return sorted([*own, *ships], key=lambda one: one.name)


def sample(seed: int, tasks: int, each: int, language: str) -> list[Kernel]:
    """Up to `each` kernels of every one of `tasks` tasks, drawn from all in that language."""
    draw = random.Random(seed)
    every = [one for one in kernels() if one.language == language]
    chosen = draw.sample(sorted({one.task for one in every}), tasks)
    found = []
    for name in chosen:
        here = [one for one in every if one.task == name]
        found += draw.sample(here, min(each, len(here)))
    return found


@cache
def task_of(name: str) -> Task:
    """The task of that name; one in KernelBench's format needs torch."""
    if (example := EXAMPLES / f"{name}.py").exists():
        with Oracle() as oracle:
            return load_task(str(example), inspector=oracle.inspect)
    own = TASKS / name
    return load_task(str(own) if own.is_dir() else name, inspector=lambda request: {})


def rivals_of(name: str, usual: tuple[str, ...]) -> tuple[str, ...]:
    """The usual baselines, or the only one that a task in KernelBench's format has."""
    return ("eager",) if task_of(name).reference.kind == "kernelbench" else usual


def candidate(kernel: Kernel) -> Candidate:
    """The kernel with its default values, those that are valid at the first workload they fit."""
    text, task = kernel.path.read_text(), task_of(kernel.task)
    header = parse(text, kernel.language)
    here = [one for one in task.workloads if one.device == "cpu"]
    for workload in sorted(here, key=lambda one: ROLES.index(one.role)):
        facts = contract.extents(task, workload.axes) | {"cores": detect.cores()}
        points = space(header, facts).points()
        if (point := next(points, None)) is not None:
            return make_candidate(text, kernel.language, point, origin=kernel.name)
    raise AssertionError(f"{kernel.name} has no valid point for any workload")
