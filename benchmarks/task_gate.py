"""Milliseconds that checking a task costs, on top of what a session asks of the oracle anyway.

    scripts/bench task_gate [--repeats 9]

For every core task, with an oracle started and the first question of each workload answered:
`smallest`, the controls at the smallest workload, as when a session is opened; `all`, at every
workload for the CPU, as `tasks check` runs them. Each repeat has another seed and a new question.
"""

import argparse
import time
from contextlib import closing
from pathlib import Path
from statistics import median

from record import RESULTS, Recording, say

from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.sensing import sense
from kernelwright.evaluation.stages import cases_of
from kernelwright.tasks import suites
from kernelwright.tasks.load import load_task


def milliseconds(task, oracle, cases, seed):
    answers = Answers(task, oracle, seed)
    for case in cases:
        answers.base(case)
    began = time.perf_counter()
    found = sense(answers, cases)
    return 1e3 * (time.perf_counter() - began), found


def measured(name, part, repeats):
    spent = []
    with closing(Oracle()) as oracle:
        task = load_task(name, inspector=oracle.inspect)
        oracle.load(task)
        known = cases_of(task)
        cases = [known.smoke] if part == "smallest" else [known.smoke, *known.timed]
        for seed in range(repeats):
            taken, found = milliseconds(task, oracle, cases, seed)
            spent.append(taken)
    controls = sum(len(one.controls) for one in found.workloads)
    row = {"task": name, "part": part, "workloads": [case.workload for case in cases]}
    return row | {"controls": controls, "refused": found.refused, "ms": spent}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--out", type=Path, default=RESULTS / "task_gate" / "task_gate.json")
    chosen = parser.parse_args()
    recording = Recording(chosen.out, {"repeats": chosen.repeats})
    for name in suites.names():
        for part in ("smallest", "all"):
            key = f"{name} {part}"
            if recording.has(key):
                continue
            row = measured(name, part, chosen.repeats)
            recording.add(key, row)
            say(f"{key}: {median(row['ms']):.1f} ms, {row['controls']} controls")


if __name__ == "__main__":
    main()
