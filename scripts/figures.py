"""Figures as plain SVG, drawn from the raw data of the benchmarks; needs no plotting library.

Colours are those of a page in either theme: grey axes, one blue, on a transparent ground.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from scripts.rawdata import Data, load, ratio, source
from scripts.regions import headline

RUN = Path("docs/figures/best_so_far.svg")
WIDTH, HEIGHT = 760, 320
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 28, 44
GREY, BLUE = "#8a8f98", "#2f6fd0"
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


class Axes:
    """Seconds across, ratios upwards on a logarithmic scale."""

    def __init__(self, seconds: float, ratios: Sequence[float]) -> None:
        self.seconds = max(seconds, 1.0)
        self.low = max(min([0.8, *ratios]) * 0.9, 0.1)
        self.high = max([1.5, *ratios]) * 1.25

    def x(self, seconds: float) -> float:
        """Returns pixels from the left."""
        return LEFT + (WIDTH - LEFT - RIGHT) * seconds / self.seconds

    def y(self, ratio: float) -> float:
        """Returns pixels from the top."""
        share = math.log(max(ratio, self.low) / self.low) / math.log(self.high / self.low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share


def text(x: float, y: float, words: str, anchor: str = "middle", colour: str = GREY) -> str:
    """Returns one text element."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" '
        f'font-family="sans-serif" font-size="12">{escape(words)}</text>'
    )


def line(points: Sequence[tuple[float, float]], colour: str, width: float, dash: str = "") -> str:
    """Returns one polyline."""
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<polyline points="{joined}" fill="none" stroke="{colour}" '
        f'stroke-width="{width}"{dashed}/>'
    )


def frame(axes: Axes, rival: str) -> list[str]:
    """Returns axes, ticks and the line of the baseline."""
    parts = [
        line([(LEFT, TOP), (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM)], GREY, 1)
    ]
    for tick in TICKS:
        if axes.low <= tick <= axes.high:
            parts.append(text(LEFT - 8, axes.y(tick) + 4, f"{tick:g}x", "end"))
            parts.append(line([(LEFT - 4, axes.y(tick)), (LEFT, axes.y(tick))], GREY, 1))
    step = next(size for size in (1, 2, 5, 10, 15, 30, 60, 120, 300) if axes.seconds / size <= 10)
    seconds = range(0, int(axes.seconds) + 1, step)
    parts += [text(axes.x(at), HEIGHT - BOTTOM + 18, f"{at}") for at in seconds]
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "seconds of the run"))
    one = axes.y(1)
    parts.append(line([(LEFT, one), (WIDTH - RIGHT, one)], GREY, 1, "4 4"))
    parts.append(text(WIDTH - RIGHT, one - 5, f"strongest baseline: {rival}", "end"))
    return parts


def steps(axes: Axes, row: Data) -> list[str]:
    """Returns the looks as dots and the best look so far as a staircase."""
    parts, points, best = [], list[tuple[float, float]](), 0.0
    for at, rung, found in sorted(row["looks"]):
        if rung == "confirm":
            continue
        x, y = axes.x(at), axes.y(found)
        opacity = 0.9 if rung == "full" else 0.4
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{GREY}" fill-opacity="{opacity}"/>'
        )
        if found > best:
            points += [(x, points[-1][1] if points else axes.y(1)), (x, y)]
            best = found
    if points:
        points = [(axes.x(0), axes.y(1)), *points, (axes.x(axes.seconds), points[-1][1])]
        parts.append(line(points, BLUE, 1.8))
    return parts


def confirmed(axes: Axes, row: Data) -> list[str]:
    """Returns the confirmed ratio with its interval, where there is one."""
    one = headline(row)
    if one is None:
        return []
    x = axes.x(row["moments_s"]["confirmed"])
    words = f"confirmed {ratio(one)} over {one['baseline']}"
    return [
        line([(x, axes.y(one["low"])), (x, axes.y(one["high"]))], BLUE, 3),
        f'<circle cx="{x:.1f}" cy="{axes.y(one["ratio"]):.1f}" r="5" fill="{BLUE}"/>',
        text(x - 10, axes.y(one["low"]) + 18, words, "end", BLUE),
    ]


def best_so_far() -> str:
    """Returns the figure of the recorded run, or an empty text."""
    data = load("readme/run")
    if data is None:
        return ""
    row = data["rows"]["run"]
    ratios = [found for _, _, found in row["looks"]]
    axes = Axes(row["spent"]["wall_s"], ratios)
    rival = row["opened"]["strongest"]
    title = f"{data['settings']['task']}: best look so far, speedup over the strongest baseline"
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(title)}">'
    )
    parts = [
        opening,
        text(LEFT, 16, title, "start"),
        *frame(axes, rival),
        *steps(axes, row),
        *confirmed(axes, row),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def shown() -> str:
    """Returns the figure's place in a page, with its caption."""
    data = load("readme/run")
    if data is None:
        return ""
    caption = (
        "A dot is one look at one candidate on the main workload (pale: screen, dark: full), "
        "the line is the best look so far, the bar the interval that fresh processes confirmed."
    )
    return f"![Best so far against time]({{up}}{RUN})\n\n{caption} {source('readme/run', data)}"


def made() -> dict[str, str]:
    """Returns every figure by its path below the root; what was not measured is not drawn."""
    found = {str(RUN): best_so_far()}
    return {path: text for path, text in found.items() if text}


REGIONS: dict[str, Callable[[], str]] = {"figure": shown}
