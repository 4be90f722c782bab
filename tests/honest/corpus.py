"""Every honest kernel there is: those of this folder, and the experts that ship with the package.

A kernel is one file, `<task>/<name>.cpp`, and is judged for the task of its folder: a built-in
one, or one of `tasks/` here. All of them must pass; one that does not is a fault of the judge.
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
from kernelwright.records.candidate import Candidate
from kernelwright.records.task import Task
from kernelwright.tasks import contract, suites
from kernelwright.tasks.load import load_task

HERE = Path(__file__).parent
TASKS = HERE / "tasks"
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


def kernels() -> list[Kernel]:
    """All of them, in the order of their names."""
    package = Path(str(files("kernelwright"))) / "experts"
    own = [Kernel(path.parent.name, path, False) for path in HERE.glob("*/*.cpp")]
    known = set(suites.names()) | {path.name for path in TASKS.iterdir()}
    ships = [
        Kernel(path.parts[-3], path, True)
        for path in package.glob("*/cpp/*.cpp")
        if path.parts[-3] in known
    ]
    return sorted([*own, *ships], key=lambda one: one.name)


def sample(seed: int, tasks: int, each: int) -> list[Kernel]:
    """Up to `each` kernels of every one of `tasks` tasks, drawn from all."""
    draw, every = random.Random(seed), kernels()
    chosen = draw.sample(sorted({one.task for one in every}), tasks)
    found = []
    for name in chosen:
        here = [one for one in every if one.task == name]
        found += draw.sample(here, min(each, len(here)))
    return found


@cache
def task_of(name: str) -> Task:
    """The task of that name."""
    own = TASKS / name
    return load_task(str(own) if own.is_dir() else name, inspector=lambda request: {})


def candidate(kernel: Kernel) -> Candidate:
    """The kernel with its default values, those that are valid at the first workload they fit."""
    text, task = kernel.path.read_text(), task_of(kernel.task)
    header = parse(text, "cpp")
    here = [one for one in task.workloads if one.device == "cpu"]
    for workload in sorted(here, key=lambda one: ROLES.index(one.role)):
        facts = contract.extents(task, workload.axes) | {"cores": detect.cores()}
        points = space(header, facts).points()
        if (point := next(points, None)) is not None:
            return make_candidate(text, "cpp", point, origin=kernel.name)
    raise AssertionError(f"{kernel.name} has no valid point for any workload")
