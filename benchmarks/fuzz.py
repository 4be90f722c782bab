"""Whether any parser of untrusted input answers with something else than a refusal of ours.

    scripts/bench fuzz [--number 100000] [--seed 0] [--only "header, C++"] [--at 17]

Every parser gets seeded inputs: sound ones, broken in a few places, and now and then long ones.
What may come out is a result or an error of the package; a traceback, a hang, or more than two
seconds for one input is a fault. --at gives one input alone and shows what happens. Exit code 1:
there was a fault. A part of the same inputs is a unit test.
"""

import argparse
import faulthandler
import logging
import random
import sys
import warnings
from dataclasses import asdict
from pathlib import Path

from record import RESULTS, ROOT, Recording, say

sys.path.insert(0, str(ROOT))

from benchmarks.fuzzing.every import PARSERS
from benchmarks.fuzzing.parser import HANG_S, Parser, tried

STEP = 5000


def fuzz(parser: Parser, number: int, seed: int, recording: Recording) -> None:
    """Try one parser, in steps, so that whoever waits sees that it goes on."""
    found: dict[str, object] = {}
    for start in range(0, number, STEP):
        # Code in C cannot be interrupted: then at least it is said where it hangs.
        faulthandler.dump_traceback_later(20 * HANG_S, exit=True)
        part = asdict(tried(parser, range(start, min(start + STEP, number)), seed))
        faulthandler.cancel_dump_traceback_later()
        found = _together(found, part) if found else part
        say(f"{parser.name}: {found['inputs']} inputs, {found['faults']} faults")
    recording.add(parser.name, found)


def _together(one: dict[str, object], other: dict[str, object]) -> dict[str, object]:
    return {
        name: max(value, other[name]) if name == "slowest_s" else value + other[name]
        for name, value in one.items()
    }


def table(recording: Recording) -> str:
    lines = ["| parser | inputs | accepted | refused | faults | seconds | slowest s |"]
    lines.append("|---|---|---|---|---|---|---|")
    for name, row in recording.rows.items():
        lines.append(
            f"| {name} | {row['inputs']} | {row['accepted']} | {row['refused']} | "
            f"{row['faults']} | {row['seconds']:.0f} | {row['slowest_s']:.2f} |"
        )
        lines += [f"  {problem}" for problem in row["problems"]]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="one parser")
    parser.add_argument("--at", type=int, default=None, help="one input of it, alone")
    parser.add_argument("--out", type=Path, default=RESULTS / "fuzz" / "fuzz.json")
    chosen = parser.parse_args()
    logging.disable()  # a build that is thrown away is said each time
    warnings.simplefilter("ignore", SyntaxWarning)  # Python's own, about what it reads
    warnings.simplefilter("ignore", DeprecationWarning)
    wanted = [one for one in PARSERS if chosen.only in ("", one.name)]
    if chosen.at is not None:
        for one in wanted:
            given = one.make(random.Random(f"{chosen.seed}/{one.name}/{chosen.at}"))
            print(repr(given)[:4000].encode("utf-8", "replace").decode())
            print(repr(one.read(given))[:4000].encode("utf-8", "replace").decode())
        return 0
    recording = Recording(chosen.out, {"number": chosen.number, "seed": chosen.seed})
    for one in wanted:
        if not recording.has(one.name):
            fuzz(one, chosen.number, chosen.seed, recording)
    print(table(recording))
    return 1 if any(row["faults"] for row in recording.rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
