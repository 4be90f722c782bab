"""What a judge on a GPU costs and sees, measured; each section is a process and a raw file.

    python probe.py all|SECTION RESULTS FOLDER

Sections: sharing, contents, noise, planted, sitting, latency, ahead. A raw file holds where it was
measured (device, driver, versions, command, commit) and rows. Seconds, unless a name says other.
"""

import json
import os
import platform
import signal
import subprocess
import sys
import time
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from pairs import ORDER, decision, quantile, spread, trimmed

HERE = Path(__file__).resolve().parent
REQUESTS = HERE / "requests.jsonl"
PACKAGES = ("torch", "triton", "cuda-bindings", "numpy")
HONEST = ("pass",)


def first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)
    except OSError:
        return ""
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def provenance() -> dict[str, Any]:
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    return {
        "device": first_line(query),
        "nvcc": first_line(["nvcc", "--version"]),
        "python": platform.python_version(),
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "versions": {name: metadata.version(name) for name in PACKAGES},
        "commit": os.environ.get("PROBE_COMMIT") or first_line(["git", "rev-parse", "HEAD"]),
        "command": " ".join(["python", *sys.argv[:2]]).replace(str(HERE), "."),
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "load": os.getloadavg()[0],
    }


def write(results: Path, name: str, rows: dict[str, Any]) -> None:
    results.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"provenance": provenance(), **rows}, indent=1)
    (results / f"{name}.json").write_text(text + "\n")


def clock(step: Any, repeats: int) -> dict[str, float]:
    """Milliseconds of a step that ends synchronized."""
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        step()
        taken.append(1e3 * (time.perf_counter() - began))
    return {"median_ms": quantile(taken, 0.5), "p90_ms": quantile(taken, 0.9)}


# ---------------------------------------------------------------- sharing


def refused(step: Any) -> dict[str, Any]:
    """What a question to a worker brought: its reply, or the error it ended in."""
    from verifier import Refused

    try:
        return step()
    except Refused as problem:
        return {"error": problem.seen["text"]}


def ask_peek(verifier: Any, block: Any, message: dict[str, Any]) -> dict[str, Any]:
    """A fresh worker opens the block and reads; it may die of it."""
    side = verifier.workers.take()
    fd = block.descriptor()
    try:
        return refused(lambda: side.ask({"verb": "peek", "size": block.size, **message}, 5.0, [fd]))
    finally:
        os.close(fd)
        side.kill()


def neighbours_ipc(verifier: Any, size: int) -> dict[str, Any]:
    """Two ordinary allocations of one size; only the first one's handle is given away."""
    from device import call, driver

    every = sorted(int(call(driver.cuMemAlloc(size))) for _ in range(8))
    first, second = min(pairwise(every), key=lambda two: two[1] - two[0])
    call(driver.cuMemsetD32(first, 11, size // 4))
    call(driver.cuMemsetD32(second, 22, size // 4))
    row: dict[str, Any] = {"size": size, "distance": second - first}
    try:
        began = time.perf_counter()
        handle = call(driver.cuIpcGetMemHandle(first))
        row["get_us"] = 1e6 * (time.perf_counter() - began)
        side = verifier.workers.take()
        message = {"verb": "peek_ipc", "handle": bytes(handle.reserved).hex(),
                   "at": second - first}  # fmt: skip
        row |= refused(lambda: side.ask(message, 5.0))
        side.kill()
    except Exception as problem:  # noqa: BLE001 the error is the finding
        row["error"] = f"{type(problem).__name__}: {problem}"
    for address in every:
        call(driver.cuMemFree(address))
    row["neighbour_read"] = row.get("beyond") == 22
    return row


def sharing(results: Path, folder: Path) -> None:
    """Which handles work, what they cost, and whether a neighbour can be read through them."""
    from device import call, create_block, driver, read_u32
    from verifier import Verifier

    verifier = Verifier(folder / "sharing", batch=10)
    rows: dict[str, Any] = {"own_s": verifier.own_s, "zygote": verifier.workers.hello}
    blocks = [create_block(1 << 20) for _ in range(2)]
    for i, block in enumerate(blocks):
        call(driver.cuMemsetD32(block.address, 11 * (i + 1), block.size // 4))
    first = blocks[0]
    rows["block"] = {"asked": 1 << 20, "size": first.size,
                     "distance": blocks[1].address - first.address}  # fmt: skip
    rows["create"] = clock(lambda: create_block(2 << 20).release(), 50)
    rows["export"] = clock(lambda: os.close(first.descriptor()), 50)
    rows["inside"] = ask_peek(verifier, first, {"at": 0})
    rows["beyond"] = ask_peek(verifier, first, {"at": first.size})
    rows["read_only_read"] = ask_peek(verifier, first, {"at": 0, "writable": False})
    rows["read_only_written"] = ask_peek(
        verifier, first, {"at": 0, "writable": False, "write": True}
    )
    rows["written_by_worker"] = ask_peek(verifier, first, {"at": 0, "write": True})
    rows["seen_here_after_write"] = read_u32(first.address)[0]
    sizes = [512 << 10, 1 << 20, 2 << 20, 3 << 20]
    rows["ipc"] = [neighbours_ipc(verifier, size) for size in sizes]
    rows["prime_s"] = verifier.workers.prime_s
    rows["prime_parts"] = verifier.workers.take().parts
    rows["free_per_worker_mib"] = worker_memory(verifier)
    verifier.close()
    write(results, "sharing", rows)
    print("sharing", json.dumps(rows))


def worker_memory(verifier: Any) -> float:
    import device

    time.sleep(1.0)  # whatever was killed before is gone
    before = device.free_bytes()
    side = verifier.workers.fresh()
    used = before - device.free_bytes()
    side.kill()
    return used / 2**20


# ---------------------------------------------------------------- the verifier's own work


def ended(step: Any) -> Any:
    """The step, synchronized."""
    import device

    def run() -> None:
        step()
        device.synchronize()

    return run


def own_work(verifier: Any, name: str) -> dict[str, Any]:
    """Fill, poison and check of one slot and of ten; then a whole round of ten calls."""
    from verifier import SLOTS

    ring, side = verifier.ring(name), verifier.baseline(name)
    every = list(range(SLOTS))
    verifier.block(side, ring, "contents")
    row = {
        "in_mib": ring.task.in_elements * ring.task.width / 2**20,
        "fill": clock(ended(lambda: verifier.fill(ring, [0])), 30),
        "poison": clock(ended(lambda: verifier.poison(ring, [0])), 30),
        "fill_ten": clock(ended(lambda: verifier.fill(ring, every)), 10),
        "poison_ten": clock(ended(lambda: verifier.poison(ring, every)), 10),
    }
    verifier.block(side, ring, "contents")
    row["check"] = clock(lambda: verifier.check(ring, [0]), 30)
    row["check_ten"] = clock(lambda: verifier.check(ring, every), 10)
    row["round_of_ten"] = clock(lambda: verifier.block(side, ring, "contents"), 20)
    row["worst_of_baseline"] = max(report["worst"] for report in verifier.check(ring, every))
    return row


def contents(results: Path, folder: Path) -> None:
    """What the verifier's own work costs, for each task."""
    from tasks import TASKS
    from verifier import Verifier

    verifier = Verifier(folder / "contents", batch=1)
    rows = {name: own_work(verifier, name) for name in TASKS}
    verifier.close()
    write(results, "contents", rows)
    print("contents", json.dumps(rows))


# ---------------------------------------------------------------- A/A and planted slowdowns

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
    """Is a known slowdown seen? A tail of clock cycles after each call, and 2 % of rows repeated."""
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


# ---------------------------------------------------------------- a whole sitting, killed and resumed


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
                 row.get("decision"), row.get("us"), row.get("health"), row.get("seen")]  # fmt: skip
        print(" ", json.dumps(short))


# ---------------------------------------------------------------- source to verdict, one at a time


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
           for part in ("start_s", "load_s", "smoke_s", "check_s", "time_s", "clocks_s", "total_s")},
        "first_call_s": [row["smoke"]["first_call_s"] for row in rows if "smoke" in row],
    }  # fmt: skip
    found = {key: [round(quantile(values, share), 4) for share in (0.5, 0.9)]
             for key, values in series.items()}  # fmt: skip
    hits = [hit for row in rows for hit in row.get("smoke", {}).get("cache_hits", [])]
    return {"n": len(rows), "passed": sum(row["outcome"] == "pass" for row in rows),
            "median_p90": found, "cache_hits": [sum(hits), len(hits)]}  # fmt: skip


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
    from tasks import TASKS
    from verifier import Refused

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


SECTIONS = {f.__name__: f for f in (sharing, contents, ahead, layers, checker, sitting, confined_sitting, latency,
                                    small, noise, planted)}  # fmt: skip


def main() -> None:
    what, results, folder = sys.argv[1].split(","), Path(sys.argv[2]), Path(sys.argv[3])
    if len(what) == 1 and what != ["all"]:
        SECTIONS[what[0]](results, folder)
        return
    for name in SECTIONS if what == ["all"] else what:
        began = time.perf_counter()
        command = [sys.executable, __file__, name, str(results), str(folder)]
        code = subprocess.run(command, check=False).returncode
        print(f"== {name}: code {code}, {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
