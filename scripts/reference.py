#!/usr/bin/env python3
"""Writes the reference pages that follow from code: commands, outcomes, settings and so on.

    scripts/reference.py           write docs/reference/{cli,controls,museum,outcomes,settings}.md
    scripts/reference.py --check   exit 1 if a page is not what the code says

A page that is written by hand drifts; these cannot: a test runs the check.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, get_args

import click
from pydantic_core import PydanticUndefined

from kernelwright import plugins
from kernelwright.checks.controls import OF_INPUTS, OF_ITSELF, OF_OUTPUTS
from kernelwright.cli import options
from kernelwright.records.outcome import Decision, Outcome
from kernelwright.records.run import Effort, Status
from kernelwright.records.rung import Rung
from kernelwright.search.rungs import PLATEAU, plans_for
from kernelwright.settings import ELSEWHERE, MINUTES, PREFIX, Settings
from kernelwright.verbs import table
from kernelwright.verbs.run_answer import EXIT

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.meanings import CODES, DECIDED, ENDINGS, MEANING  # noqa: E402 (found from the root)
from scripts.museum_page import museum  # noqa: E402

PAGES = ROOT / "docs" / "reference"
SOURCE = ROOT / "src" / "kernelwright"
MARK = "<!-- Written by scripts/reference.py from the code; change the code, then run it. -->\n"


def rows(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Returns a Markdown table."""
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    rule = ["---"] * len(head)
    return "\n".join("| " + " | ".join(line) + " |" for line in [list(head), rule, *cells]) + "\n"


def kind(parameter: click.Parameter) -> str:
    """Returns what an option takes, in a word."""
    if isinstance(parameter.type, click.Choice):
        return " or ".join(f"`{word}`" for word in parameter.type.choices)
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return "nothing"
    many = ", repeatable" if parameter.multiple else ""
    if parameter.metavar and isinstance(parameter, click.Option):
        return "words with commas"
    return parameter.type.name.lower() + many


def command(verb: table.Verb) -> str:
    """Returns the section of one verb."""
    module = verb.load()
    found = options.parameters(module.Request)
    fields = module.Request.model_fields
    words = [one.metavar or "" for one in found if isinstance(one, click.Argument)]
    usage = " ".join(["kernelwright", verb.name, *words, "[OPTIONS]"])
    lines = [f"## {verb.name}\n", f"`{usage}` · in Python `kernelwright.{verb.function}`\n"]
    lines.append(inspect.cleandoc(module.__doc__ or verb.summary) + "\n")
    listed = [
        (f"`{(one.opts or [''])[0]}`", kind(one), one.help or "")
        for one in found
        if isinstance(one, click.Option)
    ]
    arguments = [
        (f"`{one.metavar}`", "", fields[str(one.name)].description or "")
        for one in found
        if isinstance(one, click.Argument)
    ]
    if arguments or listed:
        lines.append(rows(("option", "takes", "what it is"), [*arguments, *listed]))
    return "\n".join(lines)


def cli() -> str:
    """Returns the page of commands."""
    head = (
        "# Commands\n\nEvery command also takes `--json` (one JSON object on standard output, "
        "JSONL for lists), `--quiet` (no progress), `--debug` (tracebacks and the debug log) and "
        "`--help`. Data goes to standard output; progress, errors and hints to standard error: a "
        "bar on a terminal, plain lines elsewhere. `NO_COLOR` is honoured.\n"
    )
    codes = "## Exit codes\n\n" + rows(("code", "meaning"), CODES)
    return "\n".join([MARK, head, *map(command, table.VERBS), codes])


def raisers() -> dict[str, list[str]]:
    """Returns, for each outcome's name, the folders of the code that can give it."""
    found: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE)
        if place.parts[0] in ("records", "testing", "verbs", "report", "search"):
            continue
        for name in re.findall(r"\bOutcome\.([A-Z_]+)\b", path.read_text(encoding="utf-8")):
            found.setdefault(name, set()).add(place.parts[0])
    return {name: sorted(places) for name, places in found.items()}


def outcomes() -> str:
    """Returns the page of outcomes, decisions and endings."""
    given = raisers()
    first = (
        "An outcome is the first check that failed, or `passed`. The list is closed: scripts may "
        "rely on it. A failing candidate is an answer, never an exception; `reason` says in one "
        "sentence what happened, `evidence` holds what was seen.\n"
    )
    judged = [
        (f"`{one.value}`", MEANING[one], ", ".join(f"`{place}`" for place in given[one.name]))
        for one in Outcome
    ]
    parts = [
        MARK,
        "# Outcomes, decisions, endings\n",
        first,
        rows(("outcome", "meaning", "given by"), judged),
        "## Decisions\n",
        "What the interval of a ratio (baseline's time / candidate's time) allows one to say.\n",
        rows(("decision", "when"), [(f"`{one.value}`", DECIDED[one]) for one in Decision]),
        "## How a run ends\n",
        rows(
            ("status", "meaning", "exit code"),
            [(f"`{one}`", ENDINGS[one], EXIT.get(one, 0)) for one in get_args(Status)],
        ),
    ]
    return "\n".join(parts)


def controls() -> str:
    """Returns the page of a task's controls."""
    head = ("control", "what it is")
    groups = (
        ("In place of an output", OF_OUTPUTS),
        ("In place of an input or a scalar", OF_INPUTS),
        ("Of the comparison itself", OF_ITSELF),
    )
    first = (
        "Wrong answers that the task's own comparison must reject wherever they are wrong; "
        "[how a task is checked](../explanation/checking.md) says why. `kernelwright tasks check` "
        "tries them all. Each is `rejected`, as it must be; `accepted`, and then the tolerance is "
        "tightened or the task refused; `right`, where it is the answer; or `not_tried`.\n"
    )
    parts = [
        MARK,
        "# Controls of a task\n",
        first,
    ]
    for title, found in groups:
        lines = [(f"`{name}`", meaning) for name, meaning in found.items()]
        parts += [f"## {title}\n", rows(head, lines)]
    return "\n".join(parts)


def shown(name: str, default: Any) -> str:
    """Returns a default for people; what depends on the machine is said in words."""
    if name == "cache":
        return "`$XDG_CACHE_HOME/kernelwright` or `~/.cache/kernelwright`"
    if default in (None, "", PydanticUndefined):
        return ""
    return f"`{','.join(map(str, default)) if isinstance(default, tuple) else default}`"


def settings() -> str:
    """Returns the page of settings."""
    fields = [
        (f"`{name}`", f"`{PREFIX}{name.upper()}`", shown(name, field.default), field.description)
        for name, field in Settings.model_fields.items()
    ]
    efforts = [
        (f"`{one}`", f"{MINUTES[one]:g}", PLATEAU[one], ", ".join(map(str, looks(one))))
        for one in get_args(Effort)
    ]
    plans = [
        (f"`{rung.word}`", ", ".join(plan.stages) or "build only", plan.workloads,
         ", ".join(map(str, plan.looks)) or "none", f"{plan.checked_share:.0%}", plan.checked_least)
        for rung, plan in plans_for("normal").items()
    ]  # fmt: skip
    order = (
        "An argument or option wins over the environment, which wins over `kernelwright.toml` or "
        "`[tool.kernelwright]` in `pyproject.toml` (the nearest folder upwards), which wins over "
        "the default. `kernelwright config` prints each value and where it came from.\n"
    )
    parts = [
        MARK,
        "# Settings\n",
        order,
        rows(("setting", "environment", "default", "what it is"), fields),
        "Read elsewhere: "
        + ", ".join(f"`{PREFIX}{name}`" for name in sorted(ELSEWHERE))
        + " (tracebacks; the folder of the default store).\n",
        "## Effort\n",
        rows(("effort", "minutes", "looks without a better one", "pairs at most"), efforts),
        "## Rungs, at normal effort\n",
        rows(
            ("rung", "stages", "workloads timed", "pairs", "timed calls checked", "at least"),
            plans,
        ),
        "## Names of exchangeable parts\n",
        rows(
            ("kind", "built in"),
            [(one, ", ".join(f"`{name}`" for name in plugins.BUILT_IN[one]))
             for one in plugins.BUILT_IN],
        ),
    ]  # fmt: skip
    return "\n".join(parts)


def looks(effort: Effort) -> tuple[int, ...]:
    """Returns the numbers of pairs after which the full rung looks at the interval."""
    return plans_for(effort)[Rung.FULL].looks


def pages() -> dict[Path, str]:
    """Returns the text of every page."""
    made = {
        PAGES / f"{page.__name__}.md": page()
        for page in (cli, controls, museum, outcomes, settings)
    }
    return {path: text.rstrip() + "\n" for path, text in made.items()}


def main(arguments: Sequence[str]) -> int:
    """Writes or checks; returns the exit code."""
    stale = [
        path
        for path, text in pages().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if "--check" in arguments:
        for path in stale:
            print(f"error: {path.relative_to(ROOT)} is not what the code says", file=sys.stderr)
        if stale:
            print("hint: scripts/reference.py writes it", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pages()[path], encoding="utf-8")
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
