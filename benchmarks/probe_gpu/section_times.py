"""Sections about time: comparisons of equals, of short kernels, and planted slowdowns.

Each writes one raw file. Seconds, unless a name says other.
"""

import json
import time
from pathlib import Path
from statistics import fmean
from typing import Any

from pairs import ORDER, decision, spread, trimmed
from raw import HERE, write

SIZES = ("softmax_large", "softmax_small", "matmul_4096")


def other_baseline(verifier: Any, name: str) -> Any:
    """A second fresh worker with the baseline: the candidate's side of a comparison of equals."""
    from tasks import TASKS

    side = verifier.workers.take()
    path = str(HERE / "baselines" / TASKS[name].baseline)
    verifier.load(side, verifier.ring(name), {"kind": "python", "path": path})
    for _ in range(2):
        verifier.block(side, verifier.ring(name), "warm")
    return side


def repeated(verifier: Any, a: Any, b: Any, ring: Any, repeats: int, **how: Any) -> dict[str, Any]:
    """Comparisons of 100 timed calls a side (six groups, the first dropped)."""
    began, rows = time.perf_counter(), []
    for _ in range(repeats):
        one = verifier.paired(a, b, ring, 6, **how)
        row = {key: one[key] for key in ("ratio", "us", "unexplained_us", "queue_us")}
        row["groups"] = [{s: trimmed(group[s]) for s in "AB"} for group in one["groups"]]
        rows.append(row)
    return {
        "seconds_each": (time.perf_counter() - began) / repeats,
        "percent": spread([100 * (row["ratio"] - 1) for row in rows]),
        "rows": rows,
    }


def noise(results: Path, folder: Path) -> None:
    """Ratios of equals: in one process, in two, without head start, and over fresh pairs."""
    from verifier import Verifier

    verifier = Verifier(folder / "noise", batch=10)
    rows: dict[str, Any] = {}
    for name in SIZES:
        ring, baseline = verifier.ring(name), verifier.baseline(name)
        verifier.workers.fill()  # no worker is primed between the comparisons below
        own: dict[str, Any] = {"one_process": repeated(verifier, baseline, baseline, ring, 15)}
        side = other_baseline(verifier, name)
        own["two_processes"] = repeated(verifier, side, baseline, ring, 25)
        own["no_head_start"] = repeated(verifier, side, baseline, ring, 8, head=False)
        side.kill()
        fresh = []
        for _ in range(6):
            side = other_baseline(verifier, name)
            fresh.append(repeated(verifier, side, baseline, ring, 3))
            side.kill()
        own["fresh_pairs"] = fresh
        means = [one["percent"]["mean"] for one in fresh]
        own["fresh_pairs_percent"] = spread(means)
        rows[name] = own
        write(results, "noise", rows)
        keys = ("one_process", "two_processes", "no_head_start")
        short = {key: [round(own[key]["percent"][k], 3) for k in ("mean", "sd", "low", "high")]
                 for key in keys}  # fmt: skip
        short["fresh"] = [
            round(own["fresh_pairs_percent"][k], 3) for k in ("mean", "sd", "low", "high")
        ]
        short["us"] = own["two_processes"]["rows"][0]["us"]
        short["seconds"] = own["two_processes"]["seconds_each"]
        print("noise", name, json.dumps(short), flush=True)
    verifier.close()


def small(results: Path, folder: Path) -> None:
    """Kernels too short for events: traced times, fresh pairs; and what nothing costs."""
    from builds import BuildPool
    from tasks import TASKS
    from verifier import Verifier

    verifier, pool = Verifier(folder / "small", batch=10), BuildPool(folder / "builds", compilers=0)
    rows: dict[str, Any] = {}
    for name in ("softmax_small", "softmax_large"):
        ring, baseline = verifier.ring(name), verifier.baseline(name)
        pairs = []
        for _ in range(8):
            side = other_baseline(verifier, name)
            pairs.append([traced_pair(verifier, side, baseline, ring) for _ in range(3)])
            side.kill()
        rows[name] = {
            "fresh_pairs": pairs,
            "percent": spread([100 * (ratio - 1) for pair in pairs for ratio, _, _ in pair]),
            "percent_of_pairs": spread([100 * (fmean(p[0] for p in pair) - 1) for pair in pairs]),
        }
    floor = {}
    for name in ("floor_nothing.cu", "floor_empty.cu"):
        built = pool.build({"source": name, "task": "softmax_small"})
        side = verifier.workers.take()
        verifier.load(side, verifier.ring("softmax_small"), built)
        blocks = [verifier.block(side, verifier.ring("softmax_small"), "floor", check=False)
                  for _ in range(6)]  # fmt: skip
        floor[name] = spread([us for block in blocks[1:] for us in block["us"]])
        side.kill()
    rows["floor_us"] = floor
    verifier.close()
    pool.close()
    write(results, "small", rows)
    short = {name: [rows[name]["percent"], rows[name]["percent_of_pairs"]] for name in TASKS
             if name in rows}  # fmt: skip
    print("small", json.dumps({**short, "floor_us": floor}))


def traced_pair(verifier: Any, a: Any, b: Any, ring: Any, groups: int = 4) -> list[float]:
    """Ratio and both times of a comparison by traced durations; the first group is dropped."""
    sides: dict[str, list[float]] = {"A": [], "B": []}
    for group in range(groups):
        for letter in ORDER:
            taken = verifier.traced_block(a if letter == "A" else b, ring)
            sides[letter] += taken if group else []
    means = [trimmed(sides["A"]), trimmed(sides["B"])]
    return [means[0] / means[1], *means]


def planted(results: Path, folder: Path) -> None:
    """Is a known slowdown seen? A tail of cycles after each call, and 2 % of rows repeated."""
    from builds import BuildPool
    from verifier import Verifier

    verifier, pool = (
        Verifier(folder / "planted", batch=8),
        BuildPool(folder / "builds", compilers=0),
    )
    rows: dict[str, Any] = {}
    for name in ("softmax_large", "matmul_4096"):
        ring, baseline = verifier.ring(name), verifier.baseline(name)
        base = repeated(verifier, baseline, baseline, ring, 3)["rows"][0]["us"]["B"]
        side = other_baseline(verifier, name)
        for percent in (0, 1, 2, 5):
            # a launched tail costs its launch too: the true size is read in one process
            cycles = int(1.9e3 * max(0.0, base * percent / 100 - 1.0)) if percent else 0
            true = repeated(verifier, baseline, baseline, ring, 6, tails=(cycles, 0))
            seen = repeated(verifier, side, baseline, ring, 12, tails=(cycles, 0))
            said = [decision(row["ratio"], 0.003) for row in seen["rows"]]
            rows[f"{name}/tail{percent}"] = {
                "cycles": cycles, "true": true["percent"], "seen": seen["percent"],
                "said_slower": said.count("slower"), "of": len(said), "rows": seen["rows"],
            }  # fmt: skip
        side.kill()
    ring, sides = verifier.ring("softmax_large"), {}
    for repeats in (0, 2):
        defines = {"REPEATED": repeats}
        built = pool.build({"source": "softmax_registers.cu", "task": "softmax_large",
                            "defines": defines})  # fmt: skip
        sides[repeats] = verifier.workers.take()
        verifier.load(sides[repeats], ring, built)
        verifier.block(sides[repeats], ring, "warm")
    seen = repeated(verifier, sides[2], sides[0], ring, 20)
    said = [decision(row["ratio"], 0.003) for row in seen["rows"]]
    rows["softmax_large/rows2"] = {"seen": seen["percent"], "said_slower": said.count("slower"),
                                   "of": len(said), "rows": seen["rows"]}  # fmt: skip
    verifier.close()
    pool.close()
    write(results, "planted", rows)
    short = {key: {k: v for k, v in row.items() if k != "rows"} for key, row in rows.items()}
    print("planted", json.dumps(short))
