"""Make the values a search chose the defaults of a candidate's own file.

The file stays tunable: every value is still there, the chosen one first. Comments within the
header are not kept.
"""

import json
from collections.abc import Mapping

from kernelwright.candidates.header import parse
from kernelwright.candidates.notation import notation
from kernelwright.records.candidate import Candidate, Header, Value


def settle(source: str, language: str, values: Mapping[str, Value]) -> str:
    """``source`` with each tunable's list reordered so that ``values`` are the defaults.

    Args:
        source: a candidate's file; returned unchanged where it has no tunables.
        language: decides how it comments.
        values: the chosen value of each tunable.

    Raises:
        HeaderError: the header cannot be read.
    """
    header = parse(source, language)
    if not header.tune:
        return source
    # As the header is read: other signs that end a line for Python are part of one for a compiler.
    plain = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    written, lines = notation(language), plain.removesuffix("\n").split("\n")
    opening, closing = written.header_lines()
    first = next(i for i, line in enumerate(lines) if opening.fullmatch(line))
    last = next(i for i in range(first + 1, len(lines)) if closing.fullmatch(lines[i]))
    body = [f"{written.comment} {line}" for line in _toml(header, values)]
    return "\n".join([*lines[: first + 1], *body, *lines[last:]]) + "\n"


def settled(candidate: Candidate) -> str:
    """The candidate's own file, its values the defaults: judging it judges the candidate."""
    return settle(candidate.source, candidate.language, candidate.tunables)


def best_file(candidate: Candidate, stem: str = "best") -> tuple[str, str]:
    """Name and text of the file that holds a run's best candidate."""
    return f"{stem}{notation(candidate.language).endings[0]}", settled(candidate)


def leading_file(candidate: Candidate, run: str) -> tuple[str, str]:
    """Name and text of the file that holds who leads a run in which nobody is confirmed."""
    written = notation(candidate.language)
    said = f"{written.comment} NOT CONFIRMED: leads run {run}, and nothing is claimed of it"
    text = settled(candidate).removeprefix("\ufeff")
    return f"leading{written.endings[0]}", f"{said}\n{text}"


def _toml(header: Header, values: Mapping[str, Value]) -> list[str]:
    lines = [f"strategy = {_literal(header.strategy)}"] if header.strategy else []
    for name, choices in header.tune.items():
        if isinstance(choices, str):
            lines.append(f"tune.{name} = {_literal(choices)}")
            continue
        chosen = values.get(name, choices[0])
        ordered = [chosen, *(one for one in choices if one != chosen)]
        lines.append(f"tune.{name} = [{', '.join(map(_literal, ordered))}]")
    lists = {key: getattr(header, key) for key in ("where", "cures", "needs", "flags")}
    lines += [
        f"{key} = [{', '.join(map(_literal, found))}]" for key, found in lists.items() if found
    ]
    return lines


def _literal(value: Value) -> str:
    # A JSON text is a TOML text; numbers and truth values are written alike.
    return json.dumps(value, ensure_ascii=False)
