"""Regions about the judge itself: how often it is right, what it costs, what it withstands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from statistics import median

from scripts.rawdata import Data, clopper_pearson, load, source, table

DECISIONS = ("faster", "same", "slower", "undecided")
STAGES = ("static and build", "start", "load", "smoke", "declared", "stability", "repeats",
          "edges", "hidden", "timing", "validation")  # fmt: skip
OTHERS = 0.1
"""Cores that other work used during a comparison, from which on the machine was busy."""
QUIET, BUSY = "quiet", "busy with other work"


def busy(row: Data) -> bool:
    """Whether other work used the machine during a comparison."""
    others = (row["conditions"] or {}).get("others")
    return others is not None and others >= OTHERS


def itself() -> str:
    """Returns what the judge said of kernels timed against themselves."""
    data = load("truth/confirm")
    if data is None:
        return ""
    groups = _apart(data, "op", lambda row: row["kind"] == "A/A")
    if not groups:
        return ""
    lines = []
    for op, machine, found in groups:
        said = Counter(one["decision"] for one in found)
        false, tried = said["faster"] + said["slower"], sum(said[word] for word in DECISIONS)
        low, high = clopper_pearson(false, tried) if tried else (0.0, 1.0)
        margin = median([one["comparisons"][0]["margin"] for one in found if one["comparisons"]])
        lines.append([op, machine, tried, *(said[word] for word in DECISIONS),
                      f"{false / tried:.1%} [{low:.1%}, {high:.1%}]", f"{margin:.1%}",
                      len(found) - tried])  # fmt: skip
    head = ("task", "machine", "A/A", *DECISIONS, "false claims [95 %]", "margin", "no verdict")
    return f"{table(head, lines)}\n\n{source('truth/confirm', data)}"


def power() -> str:
    """Returns which share of planted differences was decided right."""
    data = load("truth/confirm")
    if data is None:
        return ""
    groups = _apart(data, "kind", lambda row: row["kind"].startswith(("slower", "faster")))
    if not groups:
        return ""
    groups.sort(key=lambda one: (one[1] == BUSY, abs(one[2][0]["share"])))
    lines = []
    for kind, machine, found in groups:
        right = kind.partition(" ")[0]
        said = Counter(one["decision"] for one in found)
        tried = sum(said[word] for word in DECISIONS) or 1
        low, high = clopper_pearson(said[right], tried)
        wrong = said["faster" if right == "slower" else "slower"]
        share = f"{said[right] / tried:.0%} [{low:.0%}, {high:.0%}]"
        lines.append([kind, machine, tried, share, wrong, said["same"], said["undecided"]])
    head = (
        "truth",
        "machine",
        "comparisons",
        "decided right [95 %]",
        "decided wrong",
        "same",
        "undecided",
    )
    return f"{table(head, lines)}\n\n{source('truth/confirm', data)}"


def simulations() -> str:
    """Returns coverage and decisions on made-up machines."""
    data = load("truth/confirm")
    rows = [one for one in data["rows"].values() if one["kind"] == "simulated"] if data else []
    if data is None or not rows:
        return ""
    lines = [
        [one["weather"], one["places"], f"{one['ratio']:.2f}", one["comparisons"],
         f"{one['covered'] / one['comparisons']:.1%}", *(one[word] for word in DECISIONS)]
        for one in rows
    ]  # fmt: skip
    head = ("machine", "places", "true ratio", "comparisons", "intervals with the truth",
            *DECISIONS)  # fmt: skip
    return f"{table(head, lines)}\n\n{source('truth/confirm', data)}"


def cost() -> str:
    """Returns the share of a verdict's seconds that each stage takes."""
    data = load("cost/cost")
    if data is None:
        return ""
    groups = _by(data, "rung", lambda row: row["outcome"] == "passed")
    lines = []
    for rung, found in groups.items():
        total = median([sum(one["parts_s"].values()) for one in found])
        shares = [median([one["parts_s"].get(part, 0.0) / sum(one["parts_s"].values())
                          for one in found]) for part in STAGES]  # fmt: skip
        lines.append([rung, len(found), f"{total:.2f}", *(f"{share:.0%}" for share in shares)])
    head = ("rung", "verdicts", "median s", *STAGES)
    return f"{table(head, lines)}\n\n{source('cost/cost', data)}"


def fuzzed() -> str:
    """Returns how every parser of untrusted input did."""
    data = load("fuzz/fuzz")
    if data is None:
        return ""
    lines = [
        [name, row["inputs"], row["accepted"], row["refused"], row["faults"],
         f"{row['seconds']:.0f}", f"{row['slowest_s']:.2f}"]
        for name, row in data["rows"].items()
    ]  # fmt: skip
    head = ("parser", "inputs", "read", "refused", "faults", "s", "slowest input s")
    return f"{table(head, lines)}\n\n{source('fuzz/fuzz', data)}"


def killed() -> str:
    """Returns what kills left behind."""
    data = load("kills/kills")
    if data is None:
        return ""
    groups: dict[tuple[str, str], list[Data]] = {}
    for row in data["rows"].values():
        for one in row["kills"]:
            groups.setdefault((one["command"], one["role"]), []).append(one)
    lines = [
        [command, role, sum(one["hit"] for one in found),
         sum(bool(one["problems"]) for one in found)]
        for (command, role), found in sorted(groups.items())
    ]  # fmt: skip
    head = ("command", "killed", "kills", "left something")
    return f"{table(head, lines)}\n\n{source('kills/kills', data)}"


def _by(data: Data | None, name: str, keep: Callable[[Data], bool]) -> dict[str, list[Data]]:
    groups: dict[str, list[Data]] = {}
    for row in data["rows"].values() if data else ():
        if keep(row):
            groups.setdefault(row[name], []).append(row)
    return groups


def _apart(
    data: Data, name: str, keep: Callable[[Data], bool]
) -> list[tuple[str, str, list[Data]]]:
    """Groups of a quiet machine, then those of a busy one."""
    found: dict[tuple[str, str], list[Data]] = {}
    for one, rows in _by(data, name, keep).items():
        for row in rows:
            found.setdefault((one, BUSY if busy(row) else QUIET), []).append(row)
    ordered = sorted(found.items(), key=lambda group: group[0][1] == BUSY)
    return [(one, machine, rows) for (one, machine), rows in ordered]


REGIONS: dict[str, Callable[[], str]] = {
    "truth itself": itself,
    "truth power": power,
    "truth simulated": simulations,
    "cost of trust": cost,
    "fuzz": fuzzed,
    "kills": killed,
}
