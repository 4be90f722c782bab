"""Milliseconds that the scheduler and the store take for one candidate (aim: at most 5).

    scripts/bench scheduler [--candidates N]

A simulated device answers at once; the store is an SQLite file on this disk. Proposals are made
beforehand: writing candidates is not what is measured.
"""

import argparse
import cProfile
import pstats
import tempfile
import time
from pathlib import Path

from record import RESULTS, Recording

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.candidates.tunables import space
from kernelwright.records.run import RunSpec
from kernelwright.search import rungs
from kernelwright.search.loop import start_run
from kernelwright.store.store import Store
from kernelwright.testing.simulated import SimulatedExecutor, made_up_candidates, made_up_task


def points(count):
    """That many candidates of structures with 18 points each."""
    structures = made_up_candidates(-(-count // 18))
    values = {"N": 1 << 20, "cores": 1}
    every = [
        make_candidate(one.source, one.language, point)
        for one in structures
        for point in space(one.header, values).points()
    ]
    return every[:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--candidates", type=int, default=1000)
    parser.add_argument("--profile", action="store_true", help="show where the time goes")
    chosen = parser.parse_args()
    rungs.PLATEAU = dict.fromkeys(rungs.PLATEAU, 10**9)
    candidates = points(chosen.candidates)
    spec = RunSpec(task="", device="cpu", proposers=(), threads=1)
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(str(Path(folder) / "store.db"))
        executor = SimulatedExecutor(drafts=4)
        profile = cProfile.Profile()
        if chosen.profile:
            profile.enable()
        began, cpu = time.perf_counter(), time.process_time()
        summary = start_run(
            store, executor, made_up_task(), spec, start=candidates, clock=executor.clock
        )
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        profile.disable()
        size = sum(file.stat().st_size for file in Path(folder).glob("store.db*"))
        store.close()
    evaluations = sum(summary.counts.by_rung.values())
    print(f"{summary.counts.drafted} candidates, {evaluations} evaluations in {seconds:.2f} s")
    print(f"{1000 * cpu / summary.counts.drafted:.2f} ms of processor time a candidate")
    print(
        f"{1000 * seconds / summary.counts.drafted:.2f} ms a candidate, "
        f"{1000 * seconds / evaluations:.2f} ms an evaluation, "
        f"{size / summary.counts.drafted / 1024:.1f} KiB a candidate"
    )
    if not chosen.profile:
        recording = Recording(RESULTS / "scheduler" / "scheduler.json", {"drafts": 4})
        recording.add(
            str(chosen.candidates),
            {
                "candidates": summary.counts.drafted,
                "evaluations": evaluations,
                "wall_s": seconds,
                "cpu_s": cpu,
                "store_bytes": size,
            },
        )
    if chosen.profile:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(25)


if __name__ == "__main__":
    main()
