"""Seconds and megabytes of small commands, and how large a fresh environment is.

    scripts/bench start_up [--repeats 9] [--no-environment]

Each command is a process of its own, with a store and a cache of its own. Memory is looked at in a
run of its own, every 5 ms: the largest process, and all that the command started together (pages
that they share are counted for each, so this is an upper bound). `evaluate` is timed
with an empty cache once (`evaluate, first`) and then with what that left behind. The environment
is a new venv without torch, in which this checkout is installed as a user would.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path

from record import RESULTS, ROOT, Recording, say

EXPERT = str(files("kernelwright") / "experts/softmax/cpp/online-two-pass.cpp")
RUN = [sys.executable, "-m", "kernelwright"]
COMMANDS = {
    "python, nothing else": [sys.executable, "-c", "pass"],
    "import kernelwright": [sys.executable, "-c", "import kernelwright"],
    "--help": [*RUN, "--help"],
    "optimize --help": [*RUN, "optimize", "--help"],
    "tasks list": [*RUN, "tasks", "list"],
    "config": [*RUN, "config"],
    "doctor": [*RUN, "doctor"],
    "optimize --dry-run": [*RUN, "optimize", "softmax", "--dry-run"],
    "evaluate, draft": [*RUN, "evaluate", "softmax", EXPERT, "--rung", "draft"],
    "evaluate, screen": [*RUN, "evaluate", "softmax", EXPERT, "--rung", "screen"],
}
SLOW = ("evaluate, draft", "evaluate, screen")


def start(command: list[str], folder: Path) -> subprocess.Popen:
    environment = os.environ | {
        "KERNELWRIGHT_STORE": str(folder / "store.db"),
        "KERNELWRIGHT_CACHE": str(folder / "cache"),
    }
    silent = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdout=silent, stderr=silent)


def once(command: list[str], folder: Path) -> dict[str, float]:
    began = time.monotonic()
    process = start(command, folder)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return {
        "seconds": time.monotonic() - began,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "exit": process.returncode,
    }


def resident_mb() -> dict[int, tuple[int, float, float]]:
    """Every process: its parent, its resident set now and at its highest."""
    found = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue
        fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        kib = [int(fields.get(name, "0").split()[0]) for name in ("PPid", "VmRSS", "VmHWM")]
        found[int(status.parent.name)] = (kib[0], kib[1] * 1024 / 1e6, kib[2] * 1024 / 1e6)
    return found


def memory(command: list[str], folder: Path) -> dict[str, float]:
    process = start(command, folder)
    ours = {process.pid}
    largest = together = 0.0
    while process.poll() is None:
        found = resident_mb()
        ours |= {pid for pid, (parent, _, _) in found.items() if parent in ours}
        mine = [found[pid] for pid in ours if pid in found]
        largest = max([largest, *(highest for _, _, highest in mine)])
        together = max(together, sum(now for _, now, _ in mine))
        time.sleep(0.005)
    return {"largest_mb": largest, "together_mb": together}


def size_mb(folder: Path) -> float:
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def environment(folder: Path) -> dict[str, float]:
    """A fresh venv, its packages, and what they weigh."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    bare = size_mb(folder)
    began = time.monotonic()
    pip = [folder / "bin" / "python", "-m", "pip", "install", "-qq"]
    subprocess.run([*pip, "--disable-pip-version-check", ROOT], check=True)
    seconds = time.monotonic() - began
    packages = next((folder / "lib").glob("python*")) / "site-packages"
    largest = {item.name: size_mb(item) for item in packages.iterdir() if item.is_dir()}
    most = sorted(largest.items(), key=lambda item: -item[1])[:12]
    return {
        "bare_mb": bare,
        "whole_mb": size_mb(folder),
        "ours_mb": size_mb(packages / "kernelwright"),
        "install_s": seconds,
        "largest_mb": dict(most),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--environment", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--out", type=Path, default=RESULTS / "start_up" / "start_up.json")
    chosen = parser.parse_args()
    recording = Recording(chosen.out, {"repeats": chosen.repeats})
    with tempfile.TemporaryDirectory(prefix="kernelwright-bench-") as folder:
        for name, command in COMMANDS.items():
            if recording.has(name):
                say(f"{name}: there already")
                continue
            place = Path(folder)
            if name in SLOW and not recording.has(f"{name}, first"):
                place = Path(folder) / name.replace(", ", "-")
                place.mkdir()
                recording.add(f"{name}, first", {"samples": [once(command, place)]})
            once(command, place)
            repeats = min(chosen.repeats, 5) if name in SLOW else chosen.repeats
            samples = [once(command, place) for _ in range(repeats)]
            taken = memory(command, place)
            recording.add(name, {"samples": samples, "memory": taken})
            middle = sorted(one["seconds"] for one in samples)[len(samples) // 2]
            say(f"{name}: {middle:.3f} s, {taken['largest_mb']:.0f} MB")
        if chosen.environment and not recording.has("fresh environment"):
            say("a fresh environment: installing")
            recording.add("fresh environment", environment(Path(folder) / "venv"))


if __name__ == "__main__":
    main()
