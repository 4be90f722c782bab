"""How often the judge errs where the truth is known: A/A, and kernels planted 5 % and 10 % slower.

    scripts/bench noise [--ops softmax,matmul] [--sessions 3] [--repeats 10] [--rung full]

The candidate is the task's own plain loop, which is also the only baseline: `same` must never be
called faster or slower. The planted ones run that loop and then wait for a share of the time it
took, so the truth is known on any machine. Each repetition is a fresh process; each session is a
fresh verifier with its own margin. A first look: margins, half-widths, shares of wrong verdicts.
"""

import argparse
import math
import re
import tempfile
from pathlib import Path
from typing import Any

from record import RESULTS, Recording, say

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.devices import detect
from kernelwright.executors.local import LocalExecutor
from kernelwright.records.job import JudgeJob
from kernelwright.records.rung import Rung
from kernelwright.records.task import Task
from kernelwright.search.rungs import plans_for
from kernelwright.tasks.load import load_task

KINDS = {"same": 0.0, "5 % slower": 0.05, "10 % slower": 0.10}
ENTRY = re.compile(r'extern "C" int (\w+)\(([^)]*)\)\s*\{')
WAIT = """
#include <chrono>
extern "C" int {entry}({parameters}) {{
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  const int code = planted_{entry}({names});
  const auto until = clock::now() + (clock::now() - start) * {percent} / 100;
  while (clock::now() < until) {{}}
  return code;
}}
"""


def planted(task: Task, share: float) -> str:
    """The plain loop, made slower by a share of its own time."""
    if share == 0:
        return task.baseline
    found = ENTRY.search(task.baseline)
    entry, parameters = found[1], found[2]
    names = ", ".join(re.findall(r"(\w+)\s*(?:,|$)", parameters))
    loop = task.baseline.replace(found[0], f"static int planted_{entry}({parameters}) {{")
    percent = round(100 * share)
    return loop + WAIT.format(entry=entry, parameters=parameters, names=names, percent=percent)


def session(
    op: str, number: int, chosen: argparse.Namespace, recording: Recording, folder: Path
) -> None:
    task = load_task(op, inspector=lambda request: {})
    keys = [
        (f"{op}/{number}/{kind}/{at}", kind, at)
        for at in range(chosen.repeats)
        for kind in KINDS
        if not recording.has(f"{op}/{number}/{kind}/{at}")
    ]
    if not keys:
        say(f"{op}, session {number}: there already")
        return
    executor = LocalExecutor(cache=folder, baselines=("loop",))
    try:
        executor.open(task)
        for count, (key, kind, at) in enumerate(keys):
            source = planted(task, KINDS[kind])
            job = JudgeJob(
                number=count,
                task=task,
                candidate=make_candidate(source, "cpp"),
                plan=plans_for("normal")[Rung.from_word(chosen.rung)],
                seed=1000 * number + at,
                threads=detect.cores(),
                keep_samples=True,
            )
            executor.submit(job)
            while (answer := executor.wait(None)) is None:
                pass
            recording.add(key, row(op, number, kind, answer.evaluation))
            said = [f"{item.ratio:.3f} {item.decision}" for item in answer.evaluation.comparisons]
            say(f"{key}: {'; '.join(said) or answer.evaluation.outcome.value}")
    finally:
        executor.close()


def row(op: str, number: int, kind: str, found: Any) -> dict[str, Any]:
    return {
        "op": op,
        "run": number,
        "kind": kind,
        "outcome": found.outcome.value,
        "reason": found.reason,
        "seconds": found.seconds,
        "load": found.environment.get("load", ""),
        "comparisons": [
            item.model_dump(mode="json", exclude={"samples"})
            | {"half_width": (math.log(item.high) - math.log(item.low)) / 2}
            | {"log_ratios": [float(f"{sample:.5g}") for sample in item.samples]}
            for item in found.comparisons
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", default="softmax,rmsnorm,matmul")
    parser.add_argument("--sessions", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--rung", default="screen", choices=["smoke", "screen", "full"])
    parser.add_argument("--out", type=Path, default=None)
    chosen = parser.parse_args()
    out = chosen.out or RESULTS / "noise" / f"{chosen.rung}.json"
    recording = Recording(out, {"rung": chosen.rung, "effort": "normal", "baseline": "loop"})
    with tempfile.TemporaryDirectory(prefix="kernelwright-bench-") as folder:
        for number in range(chosen.sessions):
            for op in chosen.ops.split(","):
                session(op, number, chosen, recording, Path(folder))


if __name__ == "__main__":
    main()
