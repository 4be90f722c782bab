"""What one `optimize` of each core task finds: ratios with intervals, roofline, time to the win.

    scripts/bench core_suite [--minutes 1] [--ops softmax,matmul] [--store FILE]

Runs through the Python API in the present environment: once without torch and once with it, the
raw data goes to `without-torch.json` or `with-torch.json`. The whole confirmed evaluation is kept,
so every number of the table can be traced to its pairs, margins and checks. Runs stay in the
user's store unless --store says another.
"""

import argparse
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from record import RESULTS, Recording, say

import kernelwright
from kernelwright.records.rung import Rung
from kernelwright.store.store import Store
from kernelwright.tasks import suites

TIMED = (Rung.SMOKE, Rung.SCREEN, Rung.FULL, Rung.CONFIRM)


def moments(store: Store, run: str, best: str) -> dict[str, float | None]:
    """Seconds of the run at which the eventual winner was first timed, led, and was confirmed."""
    looks = [one for one in store.evaluations(run, best) if one.evaluation.passed]
    timed = [one.wall_s for one in looks if one.evaluation.rung in TIMED]
    confirmed = [one.wall_s for one in looks if one.evaluation.rung is Rung.CONFIRM]
    wall = {one.number: one.wall_s for one in store.evaluations(run)}
    led = [
        wall[event.data["evaluation"]]
        for event in store.events(run, "champion")
        if event.data["candidate"] == best
    ]
    return {
        "first_timed": min(timed, default=None),
        "first_led": min(led, default=None),
        "confirmed": min(confirmed, default=None),
    }


def trajectory(store: Store, run: str) -> list[dict[str, float]]:
    """Best so far, by the seconds of the run: each new leader at the full rung."""
    stored = {one.number: one for one in store.evaluations(run)}
    return [
        {
            "wall_s": stored[event.data["evaluation"]].wall_s,
            "device_s": stored[event.data["evaluation"]].device_s,
            "speedup": event.data["speedup"],
        }
        for event in store.events(run, "champion")
    ]


def row(result: kernelwright.RunResult, store: Store, seconds: float) -> dict[str, Any]:
    found = result.details
    session, confirmed, counts = found.session, found.confirmed, found.counts
    best = found.best
    return {
        "run": result.id,
        "status": result.status,
        "reason": found.reason,
        "threads": found.run.spec.threads,
        "best": best
        and {
            "id": best.id,
            "strategy": best.strategy,
            "tunables": dict(best.tunables),
            "origin": best.origin,
        },
        "confirmed": confirmed and confirmed.model_dump(mode="json", exclude={"build"}),
        "opened": session and session.model_dump(mode="json"),
        "speedup": found.speedup,
        "moments_s": moments(store, result.id, best.id) if best else {},
        "trajectory": trajectory(store, result.id),
        "counts": {
            "drafted": counts.drafted,
            "built": counts.built,
            "measured": counts.measured,
            "copied": counts.copied,
            "by_rung": counts.by_rung,
            "by_outcome": counts.by_outcome,
        },
        "device_s_by_rung": counts.device_s_by_rung,
        "spent": found.spent.model_dump(),
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--ops", default="", help="comma-separated; default every core task")
    parser.add_argument("--store", default=None)
    parser.add_argument("--out", type=Path, default=None)
    chosen = parser.parse_args()
    name = "with-torch" if find_spec("torch") else "without-torch"
    out = chosen.out or RESULTS / "core_suite" / f"{name}.json"
    recording = Recording(out, {"minutes": chosen.minutes, "effort": "normal"})
    ops = [word for word in chosen.ops.split(",") if word] or list(suites.suites()["core"])
    for number, op in enumerate(ops, start=1):
        if recording.has(op):
            say(f"{number}/{len(ops)} {op}: there already")
            continue
        say(f"{number}/{len(ops)} {op}: searching for {chosen.minutes:g} minutes")
        began = time.monotonic()
        result = kernelwright.optimize(op, minutes=chosen.minutes, store=chosen.store)
        store = Store.open(chosen.store)
        try:
            recording.add(op, row(result, store, time.monotonic() - began))
        finally:
            store.close()
        speedup = result.details.speedup
        said = f"{speedup:.2f}x" if speedup else "nothing confirmed"
        say(f"{number}/{len(ops)} {op}: {result.status}, {said}")


if __name__ == "__main__":
    main()
