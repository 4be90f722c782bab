"""What a judge on a GPU costs and sees, measured; each section is a process and a raw file.

    python probe.py all|SECTION RESULTS FOLDER

Sections, in `section_*.py`: sharing, contents, ahead, layers, checker, sitting, confined_sitting,
latency, small, noise, planted. A raw file holds where it was measured (device, driver, versions,
command, commit) and rows. Seconds, unless a name says other.
"""

import subprocess
import sys
import time
from pathlib import Path

from section_memory import contents, sharing
from section_requests import confined_sitting, latency, sitting
from section_times import noise, planted, small
from section_workers import ahead, checker, layers

SECTIONS = {
    section.__name__: section
    for section in (
        sharing,
        contents,
        ahead,
        layers,
        checker,
        sitting,
        confined_sitting,
        latency,
        small,
        noise,
        planted,
    )
}


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
