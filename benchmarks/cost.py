"""What trust costs: the share of a verdict's seconds that each stage takes, at full and confirm.

    scripts/bench cost [--ops softmax,rmsnorm,matmul,reduction] [--experts 3]

Experts of a few tasks at their default numbers are judged. `static and build` is the draft; `start`
is what no check accounts for: processes, confinement, messages, and at a confirm the fresh session
with its baselines; the other stages are as recorded; `validation` is what comparing outputs of
timed calls adds to the timing, found by judging the same kernel with a plan that validates none, 30
pairs each, so it is noisy. Nothing of the judge can be switched off but by such a plan.
"""

import argparse
import tempfile
import time
from pathlib import Path

from record import RESULTS, Recording, say
from verdict_latency import judged, structures

from kernelwright.devices import detect
from kernelwright.executors.local import LocalExecutor
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.records.task import Task
from kernelwright.search.rungs import plans_for
from kernelwright.tasks.load import load_task

LOOKS = (30,)


def looked(
    executor: LocalExecutor, task: Task, one: Candidate, plan: RungPlan, number: int
) -> tuple[Evaluation, float]:
    """The verdict and the seconds until it was there."""
    job = JudgeJob(
        number=number, task=task, candidate=one, plan=plan, seed=number, threads=detect.cores()
    )
    began = time.monotonic()
    return judged(executor, job), time.monotonic() - began


def timing(found: Evaluation) -> float:
    """Seconds of every timed workload."""
    return sum(check.seconds for check in found.checks if check.name.startswith("time "))


def parts(executor: LocalExecutor, task: Task, one: Candidate, rung: Rung, number: int):
    """One verdict in parts, each in seconds."""
    plans = plans_for("normal")
    draft, _ = looked(executor, task, one, plans[Rung.DRAFT], number)
    built = draft.build.seconds if draft.build else 0.0
    found, seconds = looked(executor, task, one, plans[rung], number)
    checks = {
        check.name: check.seconds for check in found.checks if not check.name.startswith("time ")
    }
    # A confirm builds anew, within its own seconds.
    again = found.build.seconds if rung is Rung.CONFIRM and found.build else 0.0
    spent = {"static and build": again or built, **checks}
    spent["start"] = seconds - again - sum(checks.values()) - timing(found)
    spent |= _validation(executor, task, one, plans[Rung.FULL], timing(found), number)
    return found, spent


def _validation(
    executor: LocalExecutor, task: Task, one: Candidate, plan: RungPlan, whole: float, number: int
) -> dict[str, float]:
    """How the seconds of timing divide, told from two looks at the same kernel."""
    short = plan.model_copy(update={"looks": LOOKS, "stages": ("smoke",)})
    none = short.model_copy(update={"checked_share": 0.0, "checked_least": 0})
    with_it, _ = looked(executor, task, one, short, number)
    without, _ = looked(executor, task, one, none, number)
    share = 1 - timing(without) / timing(with_it) if timing(with_it) else 0.0
    validation = whole * min(max(share, 0.0), 1.0)
    return {"timing": whole - validation, "validation": validation}


def measure(op: str, chosen: argparse.Namespace, recording: Recording) -> None:
    """Every verdict on one task's experts."""
    task = load_task(op, inspector=lambda request: {})
    with tempfile.TemporaryDirectory(prefix="kernelwright-bench-") as folder:
        executor = LocalExecutor(cache=Path(folder))
        try:
            executor.open(task)
            for at, one in enumerate(structures(task)[: chosen.experts]):
                for rung in (Rung.FULL, Rung.CONFIRM):
                    key = f"{op}/{Path(one.origin).stem}/{rung.word}"
                    if recording.has(key):
                        continue
                    found, spent = parts(executor, task, one, rung, at)
                    row = {"op": op, "rung": rung.word, "outcome": found.outcome.value}
                    recording.add(key, row | {"parts_s": spent})
                    say(f"{key}: {found.outcome} in {sum(spent.values()):.1f} s")
        finally:
            executor.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", default="softmax,rmsnorm,matmul,reduction")
    parser.add_argument("--experts", type=int, default=3, help="most of a task")
    parser.add_argument("--out", type=Path, default=RESULTS / "cost" / "cost.json")
    chosen = parser.parse_args()
    recording = Recording(chosen.out, {"effort": "normal", "looks of validation": list(LOOKS)})
    for op in chosen.ops.split(","):
        measure(op, chosen, recording)


if __name__ == "__main__":
    main()
