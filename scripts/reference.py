#!/usr/bin/env python3
"""Writes the reference pages that follow from code: commands, outcomes, settings.

    scripts/reference.py           write docs/reference/{cli,outcomes,settings}.md
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
from kernelwright.cli import options
from kernelwright.records.outcome import Decision, Outcome
from kernelwright.records.run import Effort, Status
from kernelwright.records.rung import Rung
from kernelwright.search.rungs import PLATEAU, plans_for
from kernelwright.settings import ELSEWHERE, MINUTES, PREFIX, Settings
from kernelwright.verbs import table
from kernelwright.verbs.run_answer import EXIT

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "reference"
SOURCE = ROOT / "src" / "kernelwright"
MARK = "<!-- Written by scripts/reference.py from the code; change the code, then run it. -->\n"
MEANING = {
    Outcome.PASSED: "every check of the rung passed; only then is there a time",
    Outcome.PARSE_ERROR: "the file or its header cannot be read",
    Outcome.BUILD_ERROR: "the compiler or the linker refused it; the log is kept",
    Outcome.BUILD_TIMEOUT: "the compiler did not end in time",
    Outcome.SIGNATURE_ERROR: "the entry is missing, or has another prototype than the task's",
    Outcome.RUNTIME_ERROR: "the kernel returned an error, or could not be loaded",
    Outcome.TIMEOUT: "a call did not return before its deadline; the process was killed",
    Outcome.WRONG_SHAPE: "an output has another shape than declared",
    Outcome.WRONG_DTYPE: "an output has another type than declared",
    Outcome.WRONG_VALUES: "an output is further from the float64 answer than the tolerance allows",
    Outcome.NOT_FINITE: "NaN or infinity where the answer has none, or the reverse",
    Outcome.NUMERICALLY_UNSTABLE: "wrong on hostile values: huge, tiny, cancelling, special",
    Outcome.NONDETERMINISTIC: "a repeat was wrong, or bits differ where the task forbids it",
    Outcome.EDGE_CASE_FAILED: "wrong on a shape at the edge: 0, 1, a prime, unaligned, strided",
    Outcome.STALE_OR_CACHED_OUTPUT: "a timed call was wrong though earlier ones were right",
    Outcome.INPUT_MUTATED: "an input was changed",
    Outcome.STATE_MUTATED: "global state of the framework was changed",
    Outcome.ALIASED_OUTPUT: "an output shares memory with an input or an earlier output",
    Outcome.DEFERRED_WORK: "work went on after the call had returned",
    Outcome.CLOCK_DISAGREEMENT: "the worker claims less time than the verifier saw",
    Outcome.TAMPERING: "the candidate meddled with the judge",
    Outcome.KERNEL_DID_NOT_RUN: "the result did not come from the candidate's own kernel",
    Outcome.OUT_OF_BOUNDS: "bytes beside a tensor were overwritten",
    Outcome.IMPLAUSIBLY_FAST: "faster than the device can move the compulsory bytes",
    Outcome.INSENSITIVE_TASK: "the task's own comparison would accept a wrong answer",
    Outcome.CRASHED: "the process died by a signal or broke off",
    Outcome.OUT_OF_MEMORY: "memory ran out within the limit",
    Outcome.UNSUPPORTED: "this candidate cannot be judged here, for example a missing library",
}
DECIDED = {
    Decision.FASTER: "the lower end of the interval is above the margin",
    Decision.SLOWER: "the upper end is below minus the margin",
    Decision.SAME: "the whole interval lies within the margin",
    Decision.UNDECIDED: "none of these, or too few pairs",
}
ENDINGS = {
    "running": "not ended, or killed: resume goes on",
    "improved": "a candidate was confirmed faster than the strongest baseline",
    "nothing_left_to_win": "a candidate was confirmed, within 5 % of the measured roofline",
    "no_improvement": "nothing that passed is faster than the strongest baseline",
    "budget": "the budget ended before any candidate was confirmed",
    "interrupted": "Ctrl-C: resume goes on",
}
CODES = (
    (0, "done; for `optimize`: a confirmed improvement, or nothing left to win"),
    (1, "a fault of ours"),
    (2, "usage, or something that must be installed or allowed; a hint says what"),
    (3, "finished, but the answer is no"),
    (4, "a budget ended before any candidate was confirmed"),
    (130, "interrupted; a run can be resumed"),
)


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
        "JSONL for lists), `--debug` (tracebacks and the debug log) and `--help`. Data goes to "
        "standard output; progress, errors and hints to standard error. `NO_COLOR` is honoured.\n"
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
        if one.name in given
    ]
    later = [(f"`{one.value}`", MEANING[one]) for one in Outcome if one.name not in given]
    parts = [
        MARK,
        "# Outcomes, decisions, endings\n",
        first,
        rows(("outcome", "meaning", "given by"), judged),
        "Reserved, and given by no check of this version:\n",
        rows(("outcome", "meaning"), later),
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
    made = {"cli": cli(), "outcomes": outcomes(), "settings": settings()}
    return {PAGES / f"{name}.md": text.rstrip() + "\n" for name, text in made.items()}


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
