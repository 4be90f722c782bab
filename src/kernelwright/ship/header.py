"""The header of a shipped file, in any language: what it says, with nothing left to tune."""

import re

from kernelwright.records.candidate import Candidate


def untuned(candidate: Candidate, sign: str) -> list[str]:
    """The lines of a candidate's header without its tunables.

    Args:
        candidate: whose header.
        sign: how its language begins a comment.
    """
    header = candidate.header
    lines = [f"{sign} /// kernelwright"]
    if candidate.strategy:
        lines.append(f"{sign} strategy = {_toml(candidate.strategy)}")
    for name, words in (("cures", header.cures), ("needs", header.needs), ("flags", header.flags)):
        if words:
            lines.append(f"{sign} {name} = [{', '.join(map(_toml, words))}]")
    return [*lines, f"{sign} ///"]


def without_header(source: str, sign: str) -> str:
    """The source as it is around its header."""
    opening = re.compile(rf"\s*{sign}\s*///\s*kernelwright\s*")
    closing = re.compile(rf"\s*{sign}\s*///\s*")
    kept, inside = [], False
    for line in source.removeprefix("\ufeff").splitlines(keepends=True):
        if not inside:
            inside = bool(opening.fullmatch(line))
            if not inside:
                kept.append(line)
        elif closing.fullmatch(line):
            inside = False
    return "".join(kept)


def _toml(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
