"""How far one kernel's ratio differs between sessions, places fixed and places varied.

    scripts/bench placements [--sessions 8]

A copy with streaming stores against a plain copy loop, in fresh sessions: once with all pairs from
one place (the full rung), once spread over four (the confirm's way of timing). Nothing differs
between sessions but where memory happens to lie.
"""

import argparse
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

from record import RESULTS, Recording, say

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.devices import detect
from kernelwright.executors.local import LocalExecutor
from kernelwright.records.job import JudgeJob
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.records.task import Task

LOOP = """#include <cstdint>
extern "C" int duplicate(const float* x, float* y, int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < N; ++i) y[i] = x[i];
  return 0;
}
"""
PLANS = {
    "one place": RungPlan(
        rung=Rung.FULL, stages=("smoke", "declared"), workloads="main", looks=(32,)
    ),
    "four places": RungPlan(
        rung=Rung.FULL, stages=("smoke", "declared"), workloads="main", looks=(32,), placements=4
    ),
}


def streaming() -> str:
    """The streaming copy with which the ceiling is measured, under the task's name."""
    source = files("kernelwright.devices").joinpath("peaks.cpp").read_text()
    return source + (
        'extern "C" int duplicate(const float* x, float* y, int64_t N) {\n'
        "  return copy_streaming(x, y, N);\n}\n"
    )


def task() -> Task:
    sizes = {"smoke": 4096, "main": 4 << 20}
    return Task.model_validate(
        {
            "name": "duplicate",
            "entry": "duplicate",
            "axes": {"N": "fixed"},
            "inputs": [{"name": "x", "dtype": "float32", "shape": ["N"]}],
            "outputs": [{"name": "y", "dtype": "float32", "shape": ["N"]}],
            "workloads": [
                {"name": role, "device": "cpu", "role": role, "axes": {"N": size}}
                for role, size in sizes.items()
            ],
            "reference": {
                "kind": "array",
                "entry": "duplicate",
                "source": "def duplicate(xp, x):\n    return x * 1\n",
            },
            "baseline": LOOP,
        }
    )


def session(number: int, recording: Recording, folder: Path) -> None:
    executor = LocalExecutor(cache=folder, baselines=("loop",))
    try:
        executor.open(task())
        for at, (name, plan) in enumerate(PLANS.items()):
            job = JudgeJob(
                number=at,
                task=task(),
                candidate=make_candidate(streaming(), "cpp"),
                plan=plan,
                seed=number,
                threads=detect.cores(),
                keep_samples=True,
            )
            executor.submit(job)
            done = executor.wait()
            found = done.evaluation if done else None
            row: dict[str, Any] = {"opened": number, "places": name}
            if found is not None and found.passed:
                (one,) = found.comparisons
                row |= one.model_dump(mode="json")
                say(f"session {number}, {name}: {one.ratio:.3f} [{one.low:.3f}, {one.high:.3f}]")
            else:
                row |= {"failed": found.reason if found else "no answer"}
            recording.add(f"{number}|{name}", row)
    finally:
        executor.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sessions", type=int, default=8)
    chosen = parser.parse_args()
    recording = Recording(RESULTS / "placements" / "copy.json", {"elements": 4 << 20, "pairs": 32})
    with tempfile.TemporaryDirectory() as folder:
        for number in range(chosen.sessions):
            if any(f"{number}|{name}" not in recording.rows for name in PLANS):
                session(number, recording, Path(folder))


if __name__ == "__main__":
    main()
