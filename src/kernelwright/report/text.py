"""Plain tables and numbers. No colour and no width of a terminal: what is printed can be pasted."""

import textwrap
from collections.abc import Iterable, Sequence


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], right: str = "") -> str:
    """Aligned columns, two blanks between them.

    Args:
        headings: one a column; no line is drawn under them.
        rows: cells are printed with ``str``.
        right: the letter ``r`` at the place of each column that is aligned to the right.
    """
    cells = [[str(cell) for cell in row] for row in (headings, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    sides = [right[column : column + 1] == "r" for column in range(len(headings))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if side else cell.ljust(width)
            for cell, width, side in zip(row, widths, sides, strict=True)
        ).rstrip()
        for row in cells
    )


def labelled(label: str, words: str) -> str:
    """Words beside a label, what does not fit into 80 columns below themselves."""
    return textwrap.fill(
        words,
        80,
        initial_indent=f"{label:<9}  ",
        subsequent_indent=" " * 11,
        break_long_words=False,
        break_on_hyphens=False,
    )


def indent(text: str, by: str = "  ") -> str:
    """Every line moved to the right."""
    return "\n".join(by + line if line else line for line in text.splitlines())


def count(number: int, noun: str) -> str:
    """A number of things: one thing, else things."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def duration(microseconds: float) -> str:
    """A time with a unit that keeps three or four digits before it."""
    for limit, scale, unit in ((1e3, 1.0, "µs"), (1e6, 1e3, "ms")):
        if microseconds < limit:
            return f"{microseconds / scale:.3g} {unit}"
    return f"{microseconds / 1e6:.3g} s"


def margin(share: float) -> str:
    """The least difference that counts; above a whole it means that nothing could be told."""
    return f"{share:.0%}" if share < 1 else ">100%"


def ratio(value: float, low: float, high: float) -> str:
    """A ratio with its interval: the only form in which one is printed."""
    return f"{value:.2f}x [{low:.2f}, {high:.2f}]"


def bytes_(count: float) -> str:
    """An amount of memory, in binary units."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} TiB"
