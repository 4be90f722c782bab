"""Sections about one worker: caches filled ahead, layers of isolation, a memory checker.

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

from pairs import trimmed
from raw import HERE, write

# ---------------------------------------------------------------- Triton ahead of time


def ahead(results: Path, folder: Path) -> None:
    """Does a worker's launch hit a cache that a process without a device filled?"""
    from builds import CANDIDATES, Ahead
    from tasks import TASKS
    from verifier import Verifier

    verifier, compiler = Verifier(folder / "ahead", batch=8), Ahead()
    task = TASKS["softmax_large"]
    path = str(CANDIDATES / "softmax_row.py")
    common = {**task.message(), "path": path, "values": {}}
    ways = {
        "empty_cache": {},
        "host_function": {},
        "bare_source": {
            "bare": True, "kernel": "rows", "constants": {"BLOCK": 8192},
            "signature": {"x": "*bf16", "y": "*bf16", "N": "i32", "BLOCK": "constexpr"},
            "options": {"num_warps": 8},
        },
    }  # fmt: skip
    rows: dict[str, Any] = {"compiler_start_s": compiler.start_s}
    for way, more in ways.items():
        cache = folder / "ahead" / way
        cache.mkdir(parents=True, exist_ok=True)
        told = {} if way == "empty_cache" else compiler.ask({**common, **more, "cache": str(cache)})
        side = verifier.workers.take()
        ring = verifier.ring(task.name)
        before = sorted(p.name for p in cache.glob("*/*"))
        verifier.load(side, ring, {"kind": "python", "path": path, "cache": str(cache)})
        smoke = verifier.smoke(side, ring)
        side.kill()
        added = [p.name for p in cache.glob("*/*") if p.name not in before]
        rows[way] = {"told": told, **smoke, "files_before": before, "files_added": added}
    compiler.close()
    verifier.close()
    write(results, "ahead", rows)
    print("ahead", json.dumps(rows))


# ---------------------------------------------------------------- layers of isolation


def confined(verifier: Any, names: list[str]) -> dict[str, Any]:
    """A fresh worker in these layers: is it primed, right, and how fast; what outlives it."""
    from channel import Gone, Late
    from sides import Refused
    from tasks import TASKS

    began, row, task = time.perf_counter(), {}, TASKS["softmax_large"]
    side = verifier.workers.fork(names)
    try:
        row["parts"], _ = side.channel.receive(30.0)
        if side.namespace:
            side.find_inner()
        row["primed_s"] = time.perf_counter() - began
        if "error" not in row["parts"]:
            ring = verifier.ring(task.name)
            path = str(HERE / "candidates" / "cheat_outliving.py")
            verifier.load(side, ring, {"kind": "python", "path": path})
            row["smoke"] = verifier.smoke(side, ring)
            row["us"] = trimmed(verifier.block(side, ring, "layers")["us"])
            row["traced_us"] = trimmed(verifier.traced_block(side, ring))
    except (Refused, Gone, Late) as problem:
        row["error"] = f"{type(problem).__name__}: {getattr(problem, 'seen', problem)}"
    side.kill()
    row["gone"] = side.gone(10.0)
    time.sleep(0.05)
    row["outlived_by"] = end_marked()
    return row


def end_marked(mark: bytes = b"98.76543") -> int:
    """Ends what the outliving candidate left behind; how many processes that were."""
    found = 0
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "cmdline").read_bytes():
                os.kill(int(entry.name), signal.SIGKILL)
                found += 1
        except OSError:
            continue
    return found


def layers(results: Path, folder: Path) -> None:
    """Each layer of the CPU judge's sandbox alone around a worker, then all of them."""
    from isolation import LIMITS, ORDER, device_nodes
    from verifier import Verifier

    verifier = Verifier(folder / "layers", batch=1)
    for path in [folder, verifier.folder, verifier.workers.cubin]:
        path.chmod(0o755)
    rows: dict[str, Any] = {"nodes": device_nodes(), "limits": LIMITS,
                            "zygote": verifier.workers.hello}  # fmt: skip
    rootless = [name for name in ORDER if name != "mounts"]
    for names in ([], *([name] for name in ORDER), rootless, list(ORDER), list(ORDER)):
        row = confined(verifier, names)
        rows["+".join(names) or "none"] = row
        told = row.get("parts", {})
        print("layers", names, round(row.get("primed_s", 0), 2), row.get("us"), row["outlived_by"],
              row.get("error"), told.get("text"), told.get("confined"), flush=True)  # fmt: skip
    verifier.close()
    write(results, "layers", rows)


# ---------------------------------------------------------------- a memory checker


def checker(results: Path, folder: Path) -> None:
    """What a confirm's memory checker costs on a small input, and whether it finds one element."""
    from builds import BuildPool

    pool, rows = BuildPool(folder / "builds", compilers=0), {}
    for source in ("softmax_registers.cu", "fault_past_end.cu"):
        built = pool.build({"source": source, "task": "softmax_small"})
        bare = [sys.executable, str(HERE / "bare_call.py"), built["path"], "65", "1016"]
        for tool in ("", "memcheck", "racecheck", "initcheck"):
            watched = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9"] if tool else []
            began = time.perf_counter()
            done = subprocess.run([*watched, *bare], capture_output=True, text=True, check=False,
                                  timeout=60)  # fmt: skip
            rows[f"{source}/{tool or 'alone'}"] = {
                "seconds": time.perf_counter() - began,
                "code": done.returncode,
                "said": (done.stdout + done.stderr).strip().splitlines()[-3:],
            }
    pool.close()
    write(results, "checker", rows)
    print("checker", json.dumps(rows))
