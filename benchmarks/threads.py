"""What the policies for waiting threads do to a kernel: multiply-add rate, and a small read.

    scripts/bench threads [--repeats 5]

Every policy runs the same library in a fresh process. The rate says whether both cores work, the
read of one megabyte what waking the threads costs.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from importlib.resources import files

from record import RESULTS, Recording, say

from kernelwright.devices import detect
from kernelwright.languages.cpp import build_trusted

POLICIES = {
    "default": {},
    "passive": {"OMP_WAIT_POLICY": "passive"},
    "passive, bound": {
        "OMP_WAIT_POLICY": "passive",
        "OMP_PROC_BIND": "true",
        "OMP_PLACES": "cores",
    },
    "short spin": {"GOMP_SPINCOUNT": "20000"},
    "short spin, bound": {
        "GOMP_SPINCOUNT": "20000",
        "OMP_PROC_BIND": "true",
        "OMP_PLACES": "cores",
    },
}
PROGRAM = """
import json, sys
from dataclasses import asdict
from pathlib import Path
from kernelwright.devices.measured import measure
print(json.dumps(asdict(measure(Path(sys.argv[1])))))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    source = files("kernelwright.devices").joinpath("peaks.cpp").read_text()
    library = build_trusted(source, "peaks")
    recording = Recording(RESULTS / "threads" / "policies.json", {"threads": detect.cores()})
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("OMP", "GOMP"))}
    for number in range(chosen.repeats):
        for name, policy in POLICIES.items():
            key = f"{name}|{number}"
            if key in recording.rows:
                continue
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM, str(library)],
                env=plain | policy | {"OMP_NUM_THREADS": str(detect.cores())},
                capture_output=True,
                text=True,
                check=True,
            )
            recording.add(key, {"policy": name, **json.loads(done.stdout)})
    for name in POLICIES:
        rows = [row for row in recording.rows.values() if row["policy"] == name]
        rate = statistics.median(row["rate_gflops"] for row in rows)
        read = statistics.median(row["warm_read_gbps"] for row in rows)
        say(f"{name:18} {rate:7.0f} GFLOP/s  {read:7.1f} GB/s")


if __name__ == "__main__":
    main()
