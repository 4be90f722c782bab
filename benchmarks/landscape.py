"""Measures landscapes: many points of every structure of an operation, at every rung, kept raw.

    scripts/bench landscape [--ops softmax,matmul] [--points 220] [--effort normal]

The budget of points is shared evenly among the structures of the operation; a structure with
fewer points gives the rest to the others. Within a structure the default comes first, then points
drawn evenly from all that meet its constraints. The points that seemed best are measured again,
over several places; that look counts as the truth. Stopped, it goes on where it stopped. Files go
to `benchmarks/results/landscapes/<operation>.jsonl.gz`; `scripts/bench landscape_study` reads
them.
"""

import argparse
import random
from pathlib import Path

from record import RESULTS, Recording, say

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.candidates.tunables import space
from kernelwright.devices import detect
from kernelwright.executors.local import LocalExecutor
from kernelwright.proposers.base import Context, context_for, seed_from
from kernelwright.proposers.experts import defaults
from kernelwright.records.candidate import Candidate
from kernelwright.records.run import RunSpec
from kernelwright.records.rung import Rung
from kernelwright.records.task import Task
from kernelwright.search.landscape import Landscape
from kernelwright.search.rungs import plans_for
from kernelwright.search.survey import measure_landscape, measure_truth
from kernelwright.tasks.load import load_task

PLACES = 6
"""Fresh processes and buffers over which the truth about a point is measured."""


def points(one: Candidate, context: Context, seed: int) -> list[Candidate]:
    """Every valid point of one structure: the default, then all others in a drawn order."""
    every = [
        make_candidate(one.source, one.language, point, author="experts", origin=one.origin)
        for point in space(one.header, context.values).points()
    ]
    rest = [candidate for candidate in every if candidate.id != one.id]
    random.Random(seed_from(seed, one.origin)).shuffle(rest)
    return [one, *rest]


def share(available: list[int], budget: int) -> list[int]:
    """The budget, shared evenly; what one cannot use goes to those that can."""
    given = [0] * len(available)
    while sum(given) < min(budget, sum(available)):
        for at, most in enumerate(available):
            if given[at] < most and sum(given) < budget:
                given[at] += 1
    return given


def grid(task: Task, budget: int, seed: int) -> list[Candidate]:
    """Points of all structures, one of each in turn, so that a stopped survey is even too."""
    spec = RunSpec(task="", device="cpu", threads=detect.cores())
    context = context_for(task, spec, lambda look: None)
    spaces = [points(one, context, seed) for one in defaults(context)]
    parts = [
        found[:count]
        for found, count in zip(
            spaces, share([len(found) for found in spaces], budget), strict=True
        )
    ]
    say(f"{task.name}: {len(parts)} structures of {[len(found) for found in spaces]} points")
    longest = max(map(len, parts))
    return [part[at] for at in range(longest) for part in parts if at < len(part)]


def portable(task: Task) -> Task:
    """The task without the folder it was read from."""
    reference = task.reference.model_copy(update={"path": ""})
    return task.model_copy(update={"reference": reference})


def summary(landscape: Landscape) -> dict[str, object]:
    outcomes: dict[str, int] = {}
    for one in landscape.candidates:
        looks = [look for (owner, _), look in landscape.looks.items() if owner == one]
        last = max(looks, key=lambda look: look.rung).outcome.value
        outcomes[last] = outcomes.get(last, 0) + 1
    return {
        "points": len(landscape.candidates),
        "structures": len(landscape.structures()),
        "best": landscape.best(),
        "strongest": landscape.session.strongest,
        "outcomes": outcomes,
        "device_s": sum(look.device_seconds for look in landscape.looks.values()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", default="softmax,matmul")
    parser.add_argument("--points", type=int, default=220)
    parser.add_argument("--truth", type=int, default=24, help="best points measured again")
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS / "landscapes")
    chosen = parser.parse_args()
    plans = [plan for rung, plan in plans_for(chosen.effort).items() if rung < Rung.CONFIRM]
    settings = {"effort": chosen.effort, "seed": chosen.seed}
    recording = Recording(chosen.out / "landscapes.json", settings)
    chosen.out.mkdir(parents=True, exist_ok=True)
    for op in chosen.ops.split(","):
        task = portable(load_task(op, inspector=lambda request: {}))
        candidates = grid(task, chosen.points, chosen.seed)
        total = len(candidates)
        landscape = measure_landscape(
            task,
            LocalExecutor(),
            candidates,
            plans,
            chosen.out / f"{op}.jsonl.gz",
            threads=detect.cores(),
            seed=chosen.seed,
            progress=lambda done, one, op=op, total=total: say(
                f"{op}: {done + 1}/{total} {Path(one.origin).stem} {dict(one.tunables)}"
            ),
        )
        landscape = measure_truth(
            LocalExecutor(),
            chosen.out / f"{op}.jsonl.gz",
            best=chosen.truth,
            places=PLACES,
            progress=lambda done, one, op=op: say(f"{op}: again {done + 1}/{chosen.truth}"),
        )
        recording.add(op, summary(landscape))


if __name__ == "__main__":
    main()
