"""Raw files of the probe: where something was measured, and how rows are written.

Imports neither a device nor a framework.
"""

import json
import os
import platform
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from pairs import quantile

HERE = Path(__file__).resolve().parent
PACKAGES = ("torch", "triton", "cuda-bindings", "numpy")


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
