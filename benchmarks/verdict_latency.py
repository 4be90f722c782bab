"""Seconds from a candidate's source to its screen verdict, by part, for every shipped structure.

    scripts/bench verdict_latency [--ops softmax,matmul] [--effort normal]

One session a task is opened, with an empty folder for builds; then each structure is drafted
(static checks and build) and screened, as a search would, one at a time. Structures are the
expert kernels at their default numbers and the task's plain loop; what opening cost is reported
apart. `overhead` is what no check accounts for: starting the worker, its isolation, messages.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from record import RESULTS, Recording, say

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.devices import detect
from kernelwright.executors.local import LocalExecutor
from kernelwright.proposers.base import context_for
from kernelwright.proposers.experts import defaults
from kernelwright.records.candidate import Candidate
from kernelwright.records.job import JudgeJob
from kernelwright.records.run import RunSpec
from kernelwright.records.rung import Rung
from kernelwright.records.task import Task
from kernelwright.search.rungs import plans_for
from kernelwright.tasks import suites
from kernelwright.tasks.load import load_task


def structures(task: Task) -> list[Candidate]:
    spec = RunSpec(task="", device="cpu", threads=detect.cores())
    found = list(defaults(context_for(task, spec, lambda look: None)))
    if task.baseline:
        found.append(make_candidate(task.baseline, "cpp", origin=f"suites/core/{task.name}"))
    return found


def judged(executor: LocalExecutor, job: JudgeJob):
    executor.submit(job)
    while (answer := executor.wait(None)) is None:
        pass
    return answer.evaluation


def verdict(executor: LocalExecutor, task: Task, one: Candidate, effort: str) -> dict[str, Any]:
    began = time.monotonic()
    draft = screen = None
    for number, rung in enumerate((Rung.DRAFT, Rung.SCREEN)):
        job = JudgeJob(
            number=number,
            task=task,
            candidate=one,
            plan=plans_for(effort)[rung],
            seed=number,
            threads=detect.cores(),
        )
        look = judged(executor, job)
        draft, screen = (look, screen) if rung is Rung.DRAFT else (draft, look)
        if not look.passed:
            break
    seconds = time.monotonic() - began
    build = draft.build.seconds if draft.build else draft.seconds
    checks = {check.name: check.seconds for check in screen.checks} if screen else {}
    timing = sum(spent for name, spent in checks.items() if name.startswith(("time ", "after ")))
    load = checks.get("load", 0.0)
    stages = sum(checks.values()) - timing - load
    last = screen or draft
    return {
        "structure": one.origin,
        "strategy": one.strategy,
        "outcome": last.outcome.value,
        "seconds": seconds,
        "parts_s": {
            "build": build,
            "load": load,
            "stages": stages,
            "timing": timing,
            "overhead": seconds - build - sum(checks.values()),
        },
        "stages_s": checks,
        "pairs": [item.pairs for item in last.comparisons],
        "call_us": [item.candidate_us for item in last.comparisons],
    }


def measure(op: str, effort: str, recording: Recording) -> None:
    task = load_task(op, inspector=lambda request: {})
    with tempfile.TemporaryDirectory(prefix="kernelwright-bench-") as folder:
        executor = LocalExecutor(cache=Path(folder))
        try:
            began = time.monotonic()
            session = executor.open(task)
            opened = time.monotonic() - began
            for at, one in enumerate(structures(task)):
                found = verdict(executor, task, one, effort)
                found |= {"op": op, "position": at, "open_s": opened, "rival": session.strongest}
                recording.add(f"{op}/{Path(one.origin).stem}", found)
                say(f"{op}: {found['structure']}: {found['outcome']} in {found['seconds']:.2f} s")
        finally:
            executor.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", default="", help="comma-separated; default every core task")
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--out", type=Path, default=RESULTS / "verdict_latency" / "latency.json")
    chosen = parser.parse_args()
    recording = Recording(chosen.out, {"effort": chosen.effort, "rung": "screen"})
    ops = [word for word in chosen.ops.split(",") if word] or list(suites.suites()["core"])
    for op in ops:
        done = [name for name in recording.rows if name.startswith(f"{op}/")]
        wanted = structures(load_task(op, inspector=lambda request: {}))
        if len(done) == len(wanted):
            say(f"{op}: there already")
            continue
        measure(op, chosen.effort, recording)
    seconds = sorted(row["seconds"] for row in recording.rows.values())
    print(f"{len(seconds)} structures, median {seconds[len(seconds) // 2]:.2f} s")


if __name__ == "__main__":
    main()
