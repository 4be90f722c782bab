"""Whether kill -9 of a worker, a verifier or a whole command, at any moment, leaves anything.

    scripts/bench kills [--number 200] [--seed 0] [--each 5]

Small runs are started, and at random moments one of their processes is killed; the run is resumed
and killed again, and finished at last. A quarter of the kills hit `evaluate`. After each: no
process is left, no folder, no shared memory; the store opens and nobody holds the run. After the
last of a run: it goes on to an end, no claim is left, and its decisions come out again. Folders of
a command that was itself killed are removed by the next one, once they are an hour old: they are
made to look so. Exit code 1: something was left.
"""

import argparse
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from record import RESULTS, ROOT, Recording, say

sys.path.insert(0, str(ROOT))

from tests.device.killing import Killed, Killing, chain, summary
from tests.e2e.conftest import GOOD, REFERENCE, TASK

MANY = GOOD.replace("[1, 2]", f"[1, 2]\n// tune.X = {list(range(64))}").replace(
    "return 0;", "volatile int kept = X; return kept - X;"
)
"""With so many points to try that a run does not end before it is killed."""
FILES = {"poly/task.toml": TASK, "poly/reference.py": REFERENCE, "good.cpp": MANY}
LINE = "optimize poly --start good.cpp --proposer tune --evaluations 40 --effort quick"
OPTIMIZE = LINE.split()
EVALUATE = ["evaluate", "poly", "good.cpp", "--rung", "full"]
ROLES = ("worker", "verifier", "parent")


def kills(seed: int, number: int) -> list[Killed]:
    """The kills of one folder, told apart from those of others by its seed."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-bench-") as folder:
        killing = Killing(Path(folder), seed, FILES)
        if seed % 4 == 0:
            return [
                killing.once(EVALUATE, killing.chance.choice(ROLES), 3.0) for _ in range(number)
            ]
        return chain(killing, OPTIMIZE, number, 6.0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=5, help="most kills of one run")
    parser.add_argument("--out", type=Path, default=RESULTS / "kills" / "kills.json")
    chosen = parser.parse_args()
    recording = Recording(chosen.out, {"seed": chosen.seed, "each": chosen.each})
    every = [Killed(**one) for row in recording.rows.values() for one in row["kills"]]
    at = len(recording.rows)
    while sum(one.hit for one in every) < chosen.number:
        found = kills(chosen.seed + at, chosen.each)
        recording.add(str(at), {"kills": [asdict(one) for one in found]})
        every += found
        at += 1
        say(
            f"{sum(one.hit for one in every)} kills, {sum(bool(one.problems) for one in every)} bad"
        )
        for one in found:
            for problem in one.problems:
                say(f"  {one.command}, {one.role} killed after {one.after_s} s: {problem}")
    print(summary(every))
    return 1 if any(one.problems for one in every) else 0


if __name__ == "__main__":
    sys.exit(main())
