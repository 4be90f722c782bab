"""Whether the judge lets honest kernels pass: the whole corpus and every expert, and why not.

    scripts/bench honest [--ops softmax,turned] [--rung full] [--only NAME,NAME]

Every kernel of tests/honest and every expert that ships, judged in one session a task. A rejected
one is a fault of the judge: the row keeps the reason and all evidence. Prints a table.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from record import RESULTS, ROOT, Recording, say

from kernelwright.devices import detect
from kernelwright.executors.local import LocalExecutor
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob
from kernelwright.records.rung import Rung
from kernelwright.search.rungs import plans_for

sys.path.insert(0, str(ROOT))

from tests.honest import corpus

BASELINES = ("loop", "numpy")


def row(kernel: corpus.Kernel, found: Evaluation, seconds: float) -> dict[str, Any]:
    return {
        "task": kernel.task,
        "kernel": kernel.path.stem,
        "ships": kernel.ships,
        "language": kernel.language,
        "wraps": kernel.wraps,
        "outcome": found.outcome.value,
        "reason": found.reason,
        "evidence": found.evidence,
        "checks": [one.model_dump(mode="json") for one in found.checks],
        "comparisons": [
            one.model_dump(mode="json", exclude={"samples", "groups"}) for one in found.comparisons
        ],
        "clocks": {one.workload: one.clocks for one in found.measurements},
        "seconds": seconds,
    }


def judge_task(
    name: str, kernels: list[corpus.Kernel], rung: Rung, recording: Recording, cache: Path
) -> None:
    executor = LocalExecutor(cache=cache, baselines=corpus.rivals_of(name, BASELINES))
    try:
        task = corpus.task_of(name)
        executor.open(task)
        for number, kernel in enumerate(kernels, start=1):
            began = time.monotonic()
            job = JudgeJob(
                number=number,
                task=task,
                candidate=corpus.candidate(kernel),
                plan=plans_for("normal")[rung],
                seed=number,
                threads=detect.cores(),
            )
            executor.submit(job)
            while (answer := executor.wait(None)) is None:
                pass
            recording.add(kernel.name, row(kernel, answer.evaluation, time.monotonic() - began))
            say(f"{kernel.name}: {answer.evaluation.outcome} {answer.evaluation.reason}")
    finally:
        executor.close()


def table(rows: dict[str, dict[str, Any]]) -> str:
    lines = [
        "| kernel | language | wraps | outcome | against the strongest baseline |",
        "|---|---|---|---|---|",
    ]
    for name, one in sorted(rows.items()):
        ratios = ", ".join(f"{item['ratio']:.2f}" for item in one["comparisons"])
        reason = f": {one['reason']}" if one["reason"] else ""
        lines.append(
            f"| {name} | {language_of(one)} | {one.get('wraps', '')} "
            f"| {one['outcome']}{reason} | {ratios} |"
        )
    return "\n".join([*lines, "", *counts(list(rows.values()))])


def language_of(one: dict[str, Any]) -> str:
    return str(one.get("language", "cpp"))  # rows from before there was another


def counts(rows: list[dict[str, Any]]) -> list[str]:
    """How many passed, of all, in each language, and of those that wrap one operator."""
    groups = {"": rows}
    for language in sorted({language_of(one) for one in rows}):
        groups[f" in {language}"] = [one for one in rows if language_of(one) == language]
    if wraps := [one for one in rows if one.get("wraps")]:
        groups[" that wrap one operator"] = wraps
    return [
        f"{sum(one['outcome'] == 'passed' for one in group)} of {len(group)} honest kernels{what}"
        " passed"
        for what, group in groups.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", default="", help="tasks, comma-separated; default all")
    parser.add_argument("--only", default="", help="kernels, comma-separated, as in the table")
    parser.add_argument("--rung", default="full", choices=["smoke", "screen", "full"])
    parser.add_argument("--out", type=Path, default=None)
    chosen = parser.parse_args()
    out = chosen.out or RESULTS / "honest" / f"{chosen.rung}.json"
    recording = Recording(
        out, {"rung": chosen.rung, "effort": "normal", "baselines": list(BASELINES)}
    )
    every = corpus.kernels()
    if names := [word for word in chosen.only.split(",") if word]:
        every = [one for one in every if one.name in names]
    tasks = [word for word in chosen.ops.split(",") if word] or sorted({one.task for one in every})
    with tempfile.TemporaryDirectory(prefix="kernelwright-bench-") as folder:
        for name in tasks:
            left = [one for one in every if one.task == name and not recording.has(one.name)]
            if left:
                say(f"{name}: {len(left)} kernels")
                judge_task(name, left, Rung.from_word(chosen.rung), recording, Path(folder))
    print(table(recording.rows))


if __name__ == "__main__":
    main()
