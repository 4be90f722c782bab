"""How often the judge is right where the truth is known: A/A, planted differences, simulations.

    scripts/bench truth [--aa 300] [--power 20] [--ops softmax] [--rung confirm] [--simulated 1000]

A/A: an honest kernel is timed against itself, as `compare` does; neither may be called faster. The
share of false claims gets a Clopper-Pearson interval. Power: the same kernel against itself slowed
by 1, 2, 3, 5 and 10 % of its own time, on either side, so often each: which share was decided
right, which wrong. Simulated: the same decisions on made-up machines, with the share of intervals
that hold the truth. Every comparison has fresh processes and a noise of its own; a fresh verifier
takes over every 25. What was measured is not measured again; a larger number adds to it. Where
other work used the machine meanwhile, a row is kept and shown apart, and another one is measured.
"""

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from noise import planted
from record import RESULTS, ROOT, Recording, say

sys.path.insert(0, str(ROOT))

from benchmarks.truths import drift
from benchmarks.truths.kinds import wanted
from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.devices import detect
from kernelwright.executors.base import judged
from kernelwright.executors.local import LocalExecutor
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.records.task import Task
from kernelwright.search.rungs import plans_for
from kernelwright.tasks.load import load_task
from scripts.rawdata import clopper_pearson
from scripts.truth_regions import busy

SESSION = 25
SIMULATED = (1.0, 1.01, 1.02, 1.05, 1.10)
"""Truths of the simulations."""


def plan_of(rung: str) -> RungPlan:
    """As `compare` times two candidates at that rung, on the main workload."""
    plan = plans_for("normal")[Rung.from_word(rung)]
    change = {"rung": Rung.FULL, "all_baselines": False, "workloads": "main", "stages": ("smoke",)}
    return plan.model_copy(update=change)


def compare(executor: LocalExecutor, task: Task, plan: RungPlan, share: float, number: int):
    """The candidate against its rival; one of them is slowed, or none."""
    mine, rival = planted(task, max(share, 0.0)), planted(task, max(-share, 0.0))
    job = JudgeJob(
        number=number,
        task=task,
        candidate=make_candidate(mine, "cpp"),
        rival=make_candidate(f"{rival}\n// the rival\n", "cpp"),
        plan=plan,
        seed=number,
        threads=detect.cores(),
    )
    return judged(executor, job)


def row(op: str, kind: str, share: float, found: Evaluation) -> dict[str, Any]:
    compared = [one.model_dump(mode="json", exclude={"samples", "groups"})
                for one in found.comparisons]  # fmt: skip
    decision = compared[0]["decision"] if compared else found.outcome.value
    busy = found.conditions.model_dump(mode="json") if found.conditions else None
    return {
        "op": op, "kind": kind, "share": share, "decision": decision, "reason": found.reason,
        "comparisons": compared, "conditions": busy, "seconds": found.seconds,
    }  # fmt: skip


def measure(op: str, chosen: argparse.Namespace, recording: Recording, cache: Path) -> None:
    """Every comparison of one task that is not there yet."""
    task = load_task(op, inspector=lambda request: {})
    plan, left = plan_of(chosen.rung), []
    known = [one for one in recording.rows.values() if one.get("op") == op]
    numbers = Counter(one["kind"] for one in known)
    quiet = Counter(one["kind"] for one in known if not busy(one))
    for kind, share in wanted(chosen.aa, chosen.power):
        if quiet[kind] > 0:
            quiet[kind] -= 1
            continue
        left.append((f"{op}/{kind}/{numbers[kind]}", kind, share))
        numbers[kind] += 1
    for start in range(0, len(left), SESSION):
        executor = LocalExecutor(cache=cache, baselines=("loop",))
        try:
            executor.open(task)
            for at, (key, kind, share) in enumerate(left[start : start + SESSION]):
                found = row(op, kind, share, compare(executor, task, plan, share, start + at))
                recording.add(key, found)
                say(f"{key}: {found['decision']}")
        finally:
            executor.close()


def simulate(trials: int, recording: Recording) -> None:
    """The same decisions where nothing is run."""
    for weather, chosen in drift.WEATHERS.items():
        for places in (1, 8):
            for ratio in SIMULATED:
                key = f"simulated/{weather}/{places} places/{ratio:.2f}"
                if recording.has(key) or not trials:
                    continue
                seen = drift.simulated(ratio, trials, 1, chosen, places)
                about = {"weather": weather, "places": places, "ratio": ratio}
                recording.add(key, {"kind": "simulated", **about, **asdict(seen)})
                say(f"{key}: {seen.covered}/{trials} hold the truth")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aa", type=int, default=300, help="comparisons with itself, a task")
    parser.add_argument("--power", type=int, default=20, help="comparisons a difference and side")
    parser.add_argument("--simulated", type=int, default=1000, help="comparisons a made-up machine")
    parser.add_argument("--ops", default="softmax")
    parser.add_argument("--rung", default="confirm", choices=["full", "confirm"])
    parser.add_argument("--out", type=Path, default=None)
    chosen = parser.parse_args()
    out = chosen.out or RESULTS / "truth" / f"{chosen.rung}.json"
    recording = Recording(out, {"rung": chosen.rung, "effort": "normal"})
    simulate(chosen.simulated, recording)
    with tempfile.TemporaryDirectory(prefix="kernelwright-bench-") as folder:
        for op in chosen.ops.split(","):
            measure(op, chosen, recording, Path(folder))
    said = Counter(one["decision"] for one in recording.rows.values() if one["kind"] == "A/A")
    false, every = said["faster"] + said["slower"], sum(said.values())
    if every:
        low, high = clopper_pearson(false, every)
        print(f"A/A: {false} false claims in {every} [{low:.1%}, {high:.1%}]; {dict(said)}")


if __name__ == "__main__":
    main()
