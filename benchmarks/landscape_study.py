"""Device time until the incumbent is at 95 % of a landscape's best: rungs against full fidelity.

    scripts/bench landscape_study [LANDSCAPE.jsonl.gz ...] [--seeds N]

Without a file those in ``benchmarks/results/landscapes`` are used, or, with none there, a made-up
one, which shows that the study works and proves nothing about kernels. The same file and seeds
give the same numbers on every machine; they are kept in ``results/landscapes/study.json``.
"""

import argparse
import tempfile
from dataclasses import asdict
from pathlib import Path

from record import RESULTS, Recording

from kernelwright.proposers.base import context_for
from kernelwright.records.run import RunSpec
from kernelwright.records.rung import Rung
from kernelwright.search import study
from kernelwright.search.landscape import Landscape, load
from kernelwright.search.rungs import plans_for
from kernelwright.search.survey import measure_landscape


def made_up(folder):
    from kernelwright.candidates.fingerprint import make_candidate
    from kernelwright.candidates.tunables import space
    from kernelwright.testing.simulated import (
        SimulatedExecutor,
        made_up_candidates,
        made_up_task,
    )

    task = made_up_task()
    spec = RunSpec(task="", device="cpu", threads=2)
    values = context_for(task, spec, lambda look: None).values
    grid = [
        make_candidate(one.source, one.language, point)
        for one in made_up_candidates(8)
        for point in space(one.header, values).points()
    ]
    plans = [plan for rung, plan in plans_for("normal").items() if rung < Rung.CONFIRM]
    executor = SimulatedExecutor()
    return measure_landscape(task, executor, grid, plans, folder / "made-up.jsonl.gz", threads=2)


def report(landscape: Landscape, seeds: int, recording: Recording | None) -> None:
    print(
        f"{landscape.task.name}: {len(landscape.candidates)} candidates, "
        f"{len(landscape.structures())} structures, best {landscape.best():.3f}x, {seeds} seeds"
    )
    trials = {
        name: [study.trial(landscape, plans, seed) for seed in range(seeds)]
        for name, plans in study.ways().items()
    }
    for name, runs in trials.items():
        time_s = study.median([run.device_s for run in runs])
        reached = sum(run.reached for run in runs)
        final = study.median([run.final for run in runs])
        print(
            f"  {name:14} {time_s.value:8.1f} s [{time_s.low:.1f}, {time_s.high:.1f}]"
            f"   reached {reached}/{len(runs)}   final {final.value:.3f} of the best"
            f"   looks {study.median([run.looks for run in runs]).value:.0f}"
            f"   not in the grid {sum(run.missed for run in runs)}"
        )
    slow, fast = ([run.device_s for run in trials[name]] for name in ("full fidelity", "rungs"))
    gain = study.speedup(slow, fast)
    if recording:
        for name, runs in trials.items():
            for seed, run in enumerate(runs):
                row = {"op": landscape.task.name, "way": name, "seed": seed, **asdict(run)}
                recording.add(f"{landscape.task.name}|{name}|{seed}", row)
    print(f"  rungs need {gain.value:.2f}x less device time [{gain.low:.2f}, {gain.high:.2f}]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("landscapes", nargs="*", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        here = sorted((RESULTS / "landscapes").glob("*.jsonl.gz"))
        found = [load(path) for path in chosen.landscapes or here] or [made_up(Path(folder))]
    kept = here and not chosen.landscapes
    recording = (
        Recording(RESULTS / "landscapes" / "study.json", {"seeds": chosen.seeds}) if kept else None
    )
    for landscape in found:
        report(landscape, chosen.seeds, recording)


if __name__ == "__main__":
    main()
