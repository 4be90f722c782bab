"""Sections about requests: a whole sitting, killed and resumed, and sources judged one at a time.

Each writes one raw file. Seconds, unless a name says other.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pairs import quantile
from raw import HERE, write

REQUESTS = HERE / "requests.jsonl"
HONEST = ("pass",)

# ---------------------------------------------------------------- a sitting, killed and resumed


def lines(path: Path) -> list[dict[str, Any]]:
    whole = [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [json.loads(line) for line in whole]


def killed_sitting(command: list[str], answers: Path, after: int) -> int:
    """Starts a sitting, kills the driver alone with -9 once it has written ``after`` answers."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    while process.poll() is None and (not answers.exists() or len(lines(answers)) < after):
        time.sleep(0.02)
    time.sleep(0.15)  # in the middle of the next one
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return len(lines(answers))


def confined_sitting(results: Path, folder: Path) -> None:
    """The same requests with every worker in all layers of isolation."""
    from isolation import ORDER as LAYERS

    os.environ["PROBE_LAYERS"] = "+".join(LAYERS)
    sitting(results, folder, "confined_sitting")


def sitting(results: Path, folder: Path, name: str = "sitting") -> None:
    """All requests, with a kill of the driver in the middle; nothing lost, nothing judged twice."""
    home = folder / name
    command = [sys.executable, str(HERE / "sitting.py"), str(REQUESTS), str(home)]
    answers = home / "answers.jsonl"
    at_kill = killed_sitting(command, answers, 6)
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    rows, started = lines(answers), lines(home / "started.jsonl")
    ids, asked = [row["id"] for row in rows], [row["id"] for row in lines(REQUESTS)]
    again = sorted(
        {row["id"] for row in started if [s["id"] for s in started].count(row["id"]) > 1}
    )
    summary = {
        "answers_at_kill": at_kill,
        "resumed_wall_s": time.perf_counter() - began,
        "each_once": sorted(ids) == sorted(asked),
        "started_twice": again,
        "as_expected": sum(row["outcome"] == row["expect"] for row in rows),
        "of": len(rows),
        "printed": done.stdout.splitlines(),
        "errors": done.stderr[-1500:],
    }
    write(results, name, {"summary": summary, "answers": rows})
    print(name, json.dumps(summary))
    for row in rows:
        short = [row["id"], row["expect"], row["outcome"], round(row.get("ratio", 0), 4),
                 *(row.get(key) for key in ("decision", "us", "health", "seen"))]  # fmt: skip
        print(" ", json.dumps(short))


# ---------------------------------------------------------------- source to verdict, one by one


def latency(results: Path, folder: Path) -> None:
    """Honest sources, each changed by a comment and judged alone, three times each."""
    from sitting import Sitting

    honest = [row for row in lines(REQUESTS) if row["expect"] in HONEST]
    requests = [{**row, "id": f"{row['id']}#{i}", "salt": f"{time.time_ns()}"}
                for i in range(3) for row in honest]  # fmt: skip
    run = Sitting([], folder / "latency", batch=12)
    rows = []
    for request in requests:
        run.todo = [request]
        run.run()
        rows.append(run.answers.read()[-1])
    run.close()
    summary = {kind: summarise([row for row in rows if row["id"].startswith(prefix)])
               for kind, prefix in (("cuda", ("cuda-", "row-sum-")), ("triton", "triton-"),
                                    ("torch", "torch-"))}  # fmt: skip
    write(results, "latency", {"summary": summary, "open_s": run.open_s,
                               "hello": run.verifier.hello, "answers": rows})  # fmt: skip
    print("latency", json.dumps(summary), "open_s", run.open_s)


def summarise(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Median and p90 of each part; a candidate that needed a new batch of workers waits for it."""
    series = {
        "source_to_verdict_s": [row["times"]["source_to_verdict_s"] for row in rows],
        "build_s": [row["times"]["build_s"] for row in rows],
        **{part: [row["parts"].get(part, 0.0) for row in rows]
           for part in ("start_s", "load_s", "smoke_s", "check_s", "time_s", "clocks_s",
                        "total_s")},
        "first_call_s": [row["smoke"]["first_call_s"] for row in rows if "smoke" in row],
    }  # fmt: skip
    found = {key: [round(quantile(values, share), 4) for share in (0.5, 0.9)]
             for key, values in series.items()}  # fmt: skip
    hits = [hit for row in rows for hit in row.get("smoke", {}).get("cache_hits", [])]
    return {"n": len(rows), "passed": sum(row["outcome"] == "pass" for row in rows),
            "median_p90": found, "cache_hits": [sum(hits), len(hits)]}  # fmt: skip
