"""TOML of people and models, read in time that grows with its length alone.

The library underneath refuses some texts with errors of other kinds, and takes time by the square
of the number of a key's parts. Refuses to know files: whoever reads one says where it lies.
"""

import re
import tomllib
from typing import Any

MOST_DOTS = 1000
"""In one line; a key cannot be longer than its line."""
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")


class TomlError(ValueError):
    """The text is not TOML, or no TOML that is read here.

    Args:
        what: is wrong.
        line: where, from 1; 0 where that cannot be told.
        column: likewise.
    """

    def __init__(self, what: str, line: int = 0, column: int = 0) -> None:
        super().__init__(what)
        self.what, self.line, self.column = what, line, column
        quotes = what.lower().startswith("invalid value")
        self.hint = 'are quotes missing? a text is written as name = "text"' if quotes else ""
        """What to do, where that can be told."""


def loads(text: str) -> dict[str, Any]:
    """The table that a text holds.

    Raises:
        TomlError: it is none.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MOST_DOTS:
            raise TomlError(f"a line with more than {MOST_DOTS} dots", number, 1)
    try:
        return tomllib.loads(text)
    except RecursionError as problem:
        raise TomlError("nested too deeply") from problem
    except ValueError as problem:  # beside its own: a number of 5,000 digits
        found = _PLACE.search(str(problem))
        what = str(problem).partition(" (at ")[0]
        place = (int(found[1]), int(found[2])) if found else (0, 0)
        raise TomlError(what, *place) from problem
