#!/usr/bin/env python3
"""Keeps files and functions from growing: today's longest are listed, and the list may only shrink.

A limit that existing code breaks is either ignored or waived for good. A ratchet is neither: what
is above the aim stands in `ratchet.toml` with its size and a reason, and the check fails when a
listed entry grew, when something unlisted passed the aim, and when an entry shrank but the list
was not told. It does not judge style and reads no other metric than lines.

    scripts/ratchet.py                           check
    scripts/ratchet.py --update                  write smaller numbers, drop entries within the aim
    scripts/ratchet.py --add NAME --reason TEXT  list a new entry

A file counts all of its lines. A function counts from its `def` to its end, without its docstring:
a rule about length must not make anybody write less documentation.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

FILE_AIM = 250
FILE_EXPLAIN = 400
FUNCTION_AIM = 60
EXPLANATION_WORDS = 8
SUFFIXES = frozenset({".py", ".cpp", ".cu", ".cuh", ".h", ".hpp"})
LIST = "ratchet.toml"
HEADER = "# The longest files and functions of today; entries only shrink. See scripts/ratchet.py\n"


@dataclass(frozen=True)
class Entry:
    """One listed file (`src/a.py`) or function (`src/a.py::Class.method`)."""

    name: str
    lines: int
    reason: str


def aim_of(name: str) -> int:
    """Returns the number of lines that `name` should stay within."""
    return FUNCTION_AIM if "::" in name else FILE_AIM


def function_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Returns the length of a function in lines, its docstring left out."""
    total = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is not None:
        total -= (first.end_lineno or first.lineno) - first.lineno + 1
    return total


def functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, int]]:
    """Yields the dotted name and the length of every function below `node`, nested ones too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + child.name, function_lines(child)
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from functions(child, f"{prefix}{child.name}.")
        else:
            yield from functions(child, prefix)


def measure(root: Path) -> dict[str, int]:
    """Returns the length of every source file and Python function below `root/src`.

    A name that is defined twice (an overload, a branch) counts with its longest definition.
    """
    sizes: dict[str, int] = {}
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in SUFFIXES or not path.is_file():
            continue
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8")
        sizes[name] = len(text.splitlines())
        if path.suffix == ".py":
            for function, lines in functions(ast.parse(text, filename=name)):
                key = f"{name}::{function}"
                sizes[key] = max(lines, sizes.get(key, 0))
    return sizes


def load(path: Path) -> dict[str, Entry]:
    """Reads the committed list; a missing file is an empty list."""
    if not path.exists():
        return {}
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("entry", [])
    return {row["name"]: Entry(row["name"], row["lines"], row.get("reason", "")) for row in rows}


def save(path: Path, entries: dict[str, Entry]) -> None:
    """Writes the list, sorted by name, so that two branches seldom meet on one line."""
    blocks = [HEADER]
    for name in sorted(entries):
        entry = entries[name]
        name_text, reason_text = (
            json.dumps(text, ensure_ascii=False) for text in (entry.name, entry.reason)
        )
        blocks.append(
            f"\n[[entry]]\nname = {name_text}\nlines = {entry.lines}\nreason = {reason_text}\n"
        )
    path.write_text("".join(blocks), encoding="utf-8")


def reason_faults(entry: Entry) -> list[str]:
    """Says what is missing from an entry's reason."""
    if not entry.reason.strip():
        return [f"{entry.name}: is listed without a reason"]
    too_long = "::" not in entry.name and entry.lines > FILE_EXPLAIN
    if too_long and len(entry.reason.split()) < EXPLANATION_WORDS:
        todo = f"split it, or give a reason of at least {EXPLANATION_WORDS} words"
        return [f"{entry.name}: {entry.lines} lines are above {FILE_EXPLAIN}; {todo}"]
    return []


def faults(sizes: dict[str, int], entries: dict[str, Entry]) -> list[str]:
    """Compares the tree with the list and returns one message for each disagreement."""
    found = []
    for name, lines in sizes.items():
        entry = entries.get(name)
        if entry is None:
            if lines > aim_of(name):
                found.append(f"{name}: {lines} lines, the aim is {aim_of(name)}")
        elif lines > entry.lines:
            found.append(f"{name}: grew from {entry.lines} to {lines} lines")
        elif lines < entry.lines or lines <= aim_of(name):
            found.append(
                f"{name}: shrank from {entry.lines} to {lines} lines, the list does not know"
            )
    for entry in entries.values():
        if entry.name not in sizes:
            found.append(f"{entry.name}: is listed but gone")
        found.extend(reason_faults(entry))
    return found


def shrunk(sizes: dict[str, int], entries: dict[str, Entry]) -> dict[str, Entry]:
    """Returns the list with smaller numbers; entries within the aim, or gone, are dropped."""
    return {
        name: replace(entry, lines=min(entry.lines, sizes[name]))
        for name, entry in entries.items()
        if sizes.get(name, 0) > aim_of(name)
    }


def added(sizes: dict[str, int], entries: dict[str, Entry], name: str, reason: str) -> Entry:
    """Returns a new entry for `name`.

    Raises:
        ValueError: `name` is unknown, already listed or within the aim, or the reason is too thin.
    """
    if name not in sizes:
        raise ValueError(f"{name} is no file or function below src")
    if name in entries:
        raise ValueError(f"{name} is listed already, and an entry may only shrink")
    if sizes[name] <= aim_of(name):
        raise ValueError(f"{name} has {sizes[name]} lines and needs no entry")
    entry = Entry(name, sizes[name], reason)
    if thin := reason_faults(entry):
        raise ValueError(thin[0])
    return entry


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--update", action="store_true", help="write smaller numbers only")
    action.add_argument("--add", metavar="NAME", help="list a new file or function")
    parser.add_argument("--reason", default="", help="why the new entry is as long as it is")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns 0 when tree and list agree."""
    options = parse(arguments)
    path = options.root / LIST
    sizes, entries = measure(options.root), load(path)
    if options.update:
        entries = shrunk(sizes, entries)
        save(path, entries)
    elif options.add:
        try:
            entries[options.add] = added(sizes, entries, options.add, options.reason)
        except ValueError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        save(path, entries)
    found = faults(sizes, entries)
    for message in found:
        print(message)
    if found:
        print(
            "hint: split what grew; scripts/ratchet.py --update takes smaller numbers, and "
            "--add NAME --reason TEXT lists what has to be long"
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
