#!/usr/bin/env python3
"""Rewrites the marked regions of README and docs, and the figures, from the raw data.

    scripts/readme_tables.py           write
    scripts/readme_tables.py --check   exit 1 if a region or a figure is not what the data says

A region lies between `<!-- data: NAME -->` and `<!-- data: end -->`; everything between the two is
replaced. Names and texts are in `scripts/regions.py`, `scripts/probe_regions.py` and
`scripts/figures.py`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts import figures, probe_regions, regions, truth_regions  # noqa: E402 (found from the root)

REGION = re.compile(r"(<!-- data: (?P<name>[^\n]+?) -->\n)(?P<body>.*?)(<!-- data: end -->)", re.S)
EMPTY = "*Not measured yet.*\n"
KNOWN = {
    **regions.REGIONS,
    **probe_regions.REGIONS,
    **truth_regions.REGIONS,
    **figures.REGIONS,
}


def pages() -> list[Path]:
    """Returns every page that may hold a region."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def rewritten(text: str, page: Path) -> str:
    """Returns the page with each region as the data says.

    Raises:
        KeyError: a region has a name that nobody makes.
    """
    up = "../" * (len(page.relative_to(ROOT).parts) - 1)

    def replaced(found: re.Match[str]) -> str:
        made = KNOWN[found["name"]]().replace("{up}", up)
        return f"{found[1]}{made.strip() + chr(10) if made else EMPTY}{found[4]}"

    return REGION.sub(replaced, text)


def wanted() -> dict[Path, str]:
    """Returns every page and figure as it should be."""
    found = {page: rewritten(page.read_text(encoding="utf-8"), page) for page in pages()}
    return {**found, **{ROOT / path: text for path, text in figures.made().items()}}


def main(arguments: Sequence[str]) -> int:
    """Writes or checks; returns the exit code."""
    stale = {
        path: text
        for path, text in wanted().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    if "--check" in arguments:
        for path in stale:
            print(f"error: {path.relative_to(ROOT)} is not what the data says", file=sys.stderr)
        if stale:
            print("hint: scripts/readme_tables.py writes it", file=sys.stderr)
        return 1 if stale else 0
    for path, text in stale.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
