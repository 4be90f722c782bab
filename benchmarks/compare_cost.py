"""Milliseconds to compare an output with its float64 answer, the check made most often.

    scripts/bench compare_cost [--repeats 30]

Four million float32 elements: the comparison as it is (numpy in pieces that stay in the
second-level cache) and the same arithmetic over whole arrays.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from record import RESULTS, Recording, say

from kernelwright.checks.answer import make_answer
from kernelwright.checks.correctness import judge
from kernelwright.records.task import Tolerance

ELEMENTS = 1 << 22


def milliseconds(action: Callable[[], object], repeats: int) -> list[float]:
    action()
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        action()
        found.append(1e3 * (time.perf_counter() - began))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--out", type=Path, default=RESULTS / "compare_cost" / "compare_cost.json")
    chosen = parser.parse_args()
    recording = Recording(chosen.out, {"repeats": chosen.repeats})
    truth = np.random.default_rng(0).standard_normal(ELEMENTS)
    got = truth.astype(np.float32)
    answer = make_answer("y", truth, np.dtype(np.float32), (got, got))

    def whole() -> tuple[float, float, int]:
        error = np.abs(got - truth)
        misplaced = int((~np.isfinite(got) != ~np.isfinite(truth)).sum())
        return float(error.max()), float(np.sqrt(np.mean(error * error))), misplaced

    ways = {
        "in pieces": lambda: judge(got, answer, Tolerance(), 0xFF),
        "whole arrays": whole,
    }
    for name, action in ways.items():
        if recording.has(name):
            continue
        found = milliseconds(action, chosen.repeats)
        words = "numpy, " + name
        recording.add(name, {"what": words, "elements": ELEMENTS, "ms": found})
        say(f"{words}: {sorted(found)[len(found) // 2]:.2f} ms")


if __name__ == "__main__":
    main()
