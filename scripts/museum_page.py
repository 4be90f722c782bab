"""The page of the museum: every cheat that a test makes, and what becomes of it."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kernelwright.records.outcome import Outcome  # noqa: E402
from tests.exploits.museum import MEANING, Case, cases  # noqa: E402 (found from the root)

FOLDER = "../../tests/exploits"
HEAD = "| cheat | judged to | must end in | honest twin |\n| --- | --- | --- | --- |\n"


def museum() -> str:
    """Returns the page."""
    shown = cases()
    opening = (
        f"{len(shown)} ways to a false speedup. Each is a folder of "
        f"[tests/exploits]({FOLDER}/README.md) and a test: the cheat must end in the outcome that "
        "is named, and an honest kernel that looks as like it as can be must pass. What the "
        "outcomes mean is said in [outcomes](outcomes.md).\n"
    )
    parts = ["# The museum of cheats\n", opening]
    for kind, meaning in MEANING.items():
        lines = [line(case) for case in shown if case.kind == kind]
        parts += [f"## {kind.capitalize()}\n\n{meaning.capitalize()}.\n", HEAD + "\n".join(lines)]
        parts.append("")
    return "\n".join(parts)


def line(case: Case) -> str:
    """Returns the row of one case."""
    wanted = " or ".join(f"`{one.value}`" for one in case.wanted)
    twin = f"`{Outcome.PASSED.value}`"
    if case.gpu:
        wanted, twin = f"{wanted}; needs a GPU, not judged yet", "not judged yet"
    elif case.unseen:
        wanted = f"{wanted}; **not seen yet**: {case.unseen}"
    elif case.residual:
        wanted = f"{wanted}; now and then not seen"
    title = f"[{case.title}]({FOLDER}/{case.name}/case.toml)"
    return f"| {title} | {case.height.word} | {wanted} | {twin} |"
