"""Records the one run that the README shows: its command, its output, its best so far.

    scripts/bench readme_run [--task softmax] [--minutes 3]

The command is run as a person would run it, in a process of its own with a store of its own;
`scripts/readme_tables.py` pastes its output and draws its figure.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from core_suite import row
from record import RESULTS, Recording, plain, say

import kernelwright
from kernelwright.records.rung import Rung
from kernelwright.search import score
from kernelwright.store.store import Store


def looks(store: Store, run: str) -> list[list[Any]]:
    """Every timed look: seconds of the run, rung, ratio on the first workload."""
    found = []
    for one in store.evaluations(run):
        look = one.evaluation
        if look.passed and look.rung > Rung.SMOKE and look.comparisons and not look.copied_from:
            ratio = score.strongest(look)[0].ratio
            found.append([round(one.wall_s, 2), look.rung.word, round(ratio, 4)])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="softmax")
    parser.add_argument("--minutes", type=float, default=None)
    parser.add_argument("--out", type=Path, default=RESULTS / "readme" / "run.json")
    chosen = parser.parse_args()
    recording = Recording(chosen.out, {"task": chosen.task, "minutes": chosen.minutes})
    if recording.has("run"):
        say("there already")
        return
    words = ["optimize", chosen.task, "--quiet"]
    if chosen.minutes:
        words += ["--minutes", f"{chosen.minutes:g}"]
    with tempfile.TemporaryDirectory(prefix="kernelwright-bench-") as folder:
        place = str(Path(folder) / "runs.db")
        say(f"kernelwright {' '.join(words)}")
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "kernelwright", *words],
            env=os.environ | {"KERNELWRIGHT_STORE": place},
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.monotonic() - began
        if done.returncode not in (0, 3, 4):
            sys.exit(done.stderr)
        result = kernelwright.open_run(store=place)
        store = Store.open(place)
        try:
            found = row(result, store, seconds)
            found["looks"] = looks(store, result.id)
        finally:
            store.close()
        found |= {
            "words": " ".join(["kernelwright", *words]),
            "exit": done.returncode,
            "stdout": plain(done.stdout),
            "stderr": plain(done.stderr),
        }
        recording.add("run", found)
        say(f"{result.status} after {seconds:.0f} s")


if __name__ == "__main__":
    main()
