"""Reads raw data below `benchmarks/results` and writes it as Markdown: tables, ratios, sources."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from scipy.special import betaincinv

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
Data = dict[str, Any]
MOST_NAMED = 6


def load(name: str) -> Data | None:
    """Returns the raw data of that name (`core_suite/with-torch`), or None."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def table(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Returns a Markdown table; later columns are right-aligned when they hold numbers."""
    body = [[str(cell).replace("|", "\\|") for cell in line] for line in lines]
    rule = ["---", *["---:" if _numeric(body, at) else "---" for at in range(1, len(head))]]
    return "\n".join("| " + " | ".join(line) + " |" for line in [list(head), rule, *body])


def _numeric(body: Sequence[Sequence[str]], at: int) -> bool:
    return all(not line[at] or line[at][0].isdigit() for line in body)


def source(name: str, data: Data) -> str:
    """Returns the line under a table: device, versions, commit, date, raw data."""
    sessions = data["sessions"]
    last = sessions[-1]
    device, found = last["device"], last["versions"]
    parts = [
        f"{device['device'].removeprefix('cpu: ')}, {device['threads']} threads",
        f"g++ {found['g++']}",
        f"Python {found['python']}",
        f"numpy {found['numpy']}",
        f"torch {found['torch']}" if "torch" in found else "no torch",
        _commits(data),
        last["date"][:10],
    ]
    if len(sessions) > 1:
        parts.append(f"{len(sessions)} sessions")
    raw = f"[raw data]({{up}}benchmarks/results/{name}.json)"
    return f"{', '.join(parts)}; `{last['command']}`; {raw}"


def _commits(data: Data) -> str:
    """Returns the commits at which rows were measured, and which, where there are several."""
    sessions, rows = data["sessions"], data["rows"]
    by_commit: dict[str, list[str]] = {}
    for name, row in rows.items() if isinstance(rows, dict) else ():
        at = row.get("session") if isinstance(row, dict) else None
        by_commit.setdefault(sessions[at if at is not None else -1]["commit"][:10], []).append(name)
    if len(by_commit) < 2:
        return f"commit {next(iter(by_commit), sessions[-1]['commit'][:10])}"
    last = sessions[-1]["commit"][:10]
    older = [
        f"{key} ({', '.join(names) if len(names) <= MOST_NAMED else f'{len(names)} rows'})"
        for key, names in by_commit.items()
        if key != last
    ]
    return f"commit {last}, but {', '.join(older)}"


def ratio(one: Data) -> str:
    """Returns a ratio with its interval."""
    return f"{one['ratio']:.2f}x [{one['low']:.2f}, {one['high']:.2f}]"


def clopper_pearson(hits: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Returns the exact interval of a share (Clopper and Pearson 1934)."""
    tail = (1 - level) / 2
    low = float(betaincinv(hits, trials - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, trials - hits, 1 - tail)) if hits < trials else 1.0
    return low, high


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Returns the median and the 90th percentile."""
    if len(values) < 2:
        return values[0], values[0]
    return median(values), quantiles(values, n=10, method="inclusive")[-1]
