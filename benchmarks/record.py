"""Where a number comes from, written beside it; run alone, prints what would be written here.

    scripts/bench record

Each benchmark keeps its raw data in ``benchmarks/results/<name>/*.json``: its settings, the
sessions in which it ran (device, versions, commit, command, date), and rows by key, each with the
session it belongs to. A row that is there is not measured again, so a stopped benchmark goes on
where it stopped; a file with other settings is refused, never mixed.
"""

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from kernelwright.devices import detect

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PACKAGES = ("kernelwright", "numpy", "scipy", "optuna", "SQLAlchemy", "pydantic", "torch")


def first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    except OSError:
        return ""
    return done.stdout.partition("\n")[0].strip() if done.returncode == 0 else ""


def versions() -> dict[str, str]:
    found = {"python": platform.python_version(), "g++": first_line(["g++", "-dumpfullversion"])}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """The commit, with ``+`` when source files differ from it."""
    git = ["git", "-c", "safe.directory=*"]
    head = first_line([*git, "rev-parse", "HEAD"])
    changed = first_line([*git, "status", "--porcelain", "--", "src", "benchmarks/*.py"])
    return head + ("+" if changed else "")


def plain(text: str) -> str:
    """Text without the folders of one machine."""
    return text.replace(str(ROOT), ".").replace(str(Path.home()), "~")


def provenance() -> dict[str, Any]:
    name = Path(sys.argv[0]).stem
    words = [Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:]]
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": " ".join(["scripts/bench", name, *words]),
        "commit": commit(),
        "device": detect.describe(detect.cores()),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "versions": versions(),
    }


class Recording:
    """One file of raw data that grows a row at a time."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.path = path
        self.data: dict[str, Any] = {"settings": settings, "sessions": [], "rows": {}}
        if path.exists():
            self.data = json.loads(path.read_text())
            if self.data["settings"] != settings:
                sys.exit(
                    f"error: {plain(str(path))} was measured with other settings\n"
                    f"hint: it has {self.data['settings']}; move it away, or use --out"
                )
        self._session = -1

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        """Rows by key."""
        found: dict[str, dict[str, Any]] = self.data["rows"]
        return found

    def has(self, key: str) -> bool:
        """Whether that row was measured."""
        return key in self.rows

    def add(self, key: str, row: dict[str, Any]) -> None:
        """Keep a row; the file is whole at any moment."""
        if self._session < 0:
            self.data["sessions"].append(provenance())
            self._session = len(self.data["sessions"]) - 1
        self.rows[key] = {**row, "session": self._session}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = plain(json.dumps(self.data, indent=1, default=str))
        fresh = self.path.with_suffix(".part")
        fresh.write_text(text + "\n")
        fresh.replace(self.path)


def say(line: str) -> None:
    """Progress, with the time of day."""
    print(f"{datetime.now(UTC):%H:%M:%S} {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    print(json.dumps(provenance(), indent=1))
