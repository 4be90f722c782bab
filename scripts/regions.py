"""What the marked regions of README and docs say, made from the raw data of the benchmarks.

One function a region; each reads JSON below `benchmarks/results` and returns Markdown, or an empty
text when nothing was measured yet. Refuses to contain a number of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from scripts.machine_regions import placements, scheduler, study, task_gate, threads
from scripts.rawdata import Data, load, ratio, source, spread, table

TORCH = ("eager", "fused", "compile")


def headline(row: Data) -> Data | None:
    """Returns the comparison with the strongest baseline on the main workload."""
    confirmed = row["confirmed"]
    if not confirmed or not confirmed["comparisons"]:
        return None
    first = confirmed["comparisons"][0]["workload"]
    strongest = confirmed["evidence"].get("strongest", "")
    same = [one for one in confirmed["comparisons"] if one["workload"] == first]
    found: Data = next((one for one in same if one["baseline"] == strongest), same[0])
    return found


def verdict(row: Data, one: Data) -> str:
    """Returns who won, in words."""
    if one["decision"] == "slower" and one["baseline"] in TORCH:
        return "torch wins"
    won = row["status"] in ("improved", "nothing_left_to_win")
    return one["decision"] if won or one["decision"] != "faster" else "not claimed"


def core(environment: str) -> str:
    """Returns one line a task of the core suite."""
    name = f"core_suite/{environment}"
    data = load(name)
    if data is None:
        return ""
    lines = []
    for op, row in data["rows"].items():
        one = headline(row)
        if one is None:
            lines.append([op, "–", "–", row["status"], "–", "–", "–"])
            continue
        roof, moments = row["confirmed"]["roofline"], row["moments_s"]
        share = f"{roof['fraction']:.0%} of {roof['bound']}" if roof else "–"
        led = moments.get("first_led")
        lines.append(
            [op, one["baseline"], ratio(one), verdict(row, one), share,
             f"{led:.0f}" if led else "–", row["counts"]["measured"]]
        )  # fmt: skip
    head = ("task", "strongest baseline", "speedup [95 %]", "verdict", "of the roofline",
            "s to the win", "looks timed")  # fmt: skip
    minutes = data["settings"]["minutes"]
    note = f"Main workload, confirmed in fresh processes; {minutes:g} min a task. "
    roofs = [(row["confirmed"] or {}).get("roofline") for row in data["rows"].values()]
    if any(roof and roof["fraction"] > 1 for roof in roofs):
        note += "Above 100 %: the roof was measured lower than a kernel went, or caches helped. "
    return f"{table(head, lines)}\n\n{note}{source(name, data)}"


def every_ratio(environment: str) -> str:
    """Returns every confirmed comparison of the core suite."""
    name = f"core_suite/{environment}"
    data = load(name)
    if data is None:
        return ""
    lines = [
        [op, one["workload"], one["baseline"], ratio(one), one["decision"],
         f"{one['margin']:.1%}", one["pairs"]]
        for op, row in data["rows"].items()
        for one in (row["confirmed"] or {}).get("comparisons", [])
    ]  # fmt: skip
    head = ("task", "workload", "baseline", "ratio [95 %]", "decision", "margin", "pairs")
    return f"{table(head, lines)}\n\n{source(name, data)}"


def winners(environment: str) -> str:
    """Returns what won, where the device time went, and which baselines could not be had."""
    name = f"core_suite/{environment}"
    data = load(name)
    if data is None:
        return ""
    lines = []
    for op, row in data["rows"].items():
        seconds = row["device_s_by_rung"]
        total = sum(seconds.values()) or 1.0
        shares = ", ".join(
            f"{rung} {spent / total:.0%}" for rung, spent in seconds.items() if spent > 0
        )
        best = row["best"]
        words = (best["strategy"] or best["origin"]).partition(":")[0] if best else "–"
        chosen = best["tunables"] if best else {}
        numbers = " ".join(f"{key}={value}" for key, value in chosen.items())
        lines.append([op, row["status"], words, f"`{numbers}`" if numbers else "–", shares])
    head = ("task", "status", "structure", "numbers", "device time by rung")
    return f"{table(head, lines)}\n\n{source(name, data)}"


def latency() -> str:
    """Returns seconds from source to verdict, by task and by part."""
    name = "verdict_latency/latency"
    data = load(name)
    if data is None:
        return ""
    groups: dict[str, list[Data]] = {}
    for row in data["rows"].values():
        groups.setdefault(row["op"], []).append(row)
    groups["all"] = list(data["rows"].values())
    parts = ("build", "load", "stages", "timing", "overhead")
    lines = []
    for op, found in groups.items():
        middle, ninety = spread([row["seconds"] for row in found])
        by_part = [f"{median([row['parts_s'][part] for row in found]):.2f}" for part in parts]
        lines.append([op, len(found), f"{middle:.2f}", f"{ninety:.2f}", *by_part])
    head = ("task", "structures", "median s", "p90 s", *parts)
    return f"{table(head, lines)}\n\n{source(name, data)}"


def start_up() -> str:
    """Returns seconds and megabytes of small commands and of a fresh environment."""
    name = "start_up/start_up"
    data = load(name)
    if data is None:
        return ""
    rows = dict(data["rows"])
    fresh = rows.pop("fresh environment", None)
    lines = []
    for command, row in rows.items():
        middle, ninety = spread([one["seconds"] for one in row["samples"]])
        taken = row.get("memory", {})
        sizes = [f"{taken[key]:.0f}" if taken else "" for key in ("largest_mb", "together_mb")]
        lines.append([f"`{command}`", f"{middle:.2f}", f"{ninety:.2f}", *sizes])
    text = table(("command", "median s", "p90 s", "largest process MB", "together MB"), lines)
    if fresh:
        text += (
            f"\n\nA fresh environment without torch: {fresh['whole_mb']:.0f} MB, of them "
            f"{fresh['ours_mb']:.1f} MB ours; installed in {fresh['install_s']:.0f} s."
        )
    return f"{text}\n\n{source(name, data)}"


def noise(rung: str) -> str:
    """Returns what the judge said where the truth is known."""
    name = f"noise/{rung}"
    data = load(name)
    if data is None:
        return ""
    groups: dict[tuple[str, str], list[Data]] = {}
    for row in data["rows"].values():
        groups.setdefault((row["op"], row["kind"]), []).extend(row["comparisons"])
    words = ("faster", "same", "slower", "undecided")
    lines = []
    for (op, kind), found in groups.items():
        said = [f"{sum(one['decision'] == word for one in found)}/{len(found)}" for word in words]
        half = f"{median([one['half_width'] for one in found]):.1%}" if found else ""
        margin = f"{median([one['margin'] for one in found]):.1%}" if found else ""
        lines.append([op, kind, *said, half, margin])
    head = ("task", "truth", *words, "half-width", "margin")
    return f"{table(head, lines)}\n\n{source(name, data)}"


def landscapes() -> str:
    """Returns the size and the summit of each landscape."""
    name = "landscapes/landscapes"
    data = load(name)
    if data is None:
        return ""
    lines = [
        [op, row["points"], row["structures"], f"{row['best']:.2f}x", row["strongest"],
         ", ".join(f"{word} {count}" for word, count in row["outcomes"].items())]
        for op, row in data["rows"].items()
    ]  # fmt: skip
    head = ("task", "points", "structures", "best", "over", "how points ended")
    return f"{table(head, lines)}\n\n{source(name, data)}"


def compare_cost() -> str:
    """Returns what comparing an output with its answer costs now."""
    name = "compare_cost/compare_cost"
    data = load(name)
    if data is None:
        return ""
    lines = [
        [row["what"], row["elements"], f"{median(row['ms']):.2f}", f"{min(row['ms']):.2f}"]
        for row in data["rows"].values()
    ]
    head = ("what", "elements", "median ms", "least ms")
    return f"{table(head, lines)}\n\n{source(name, data)}"


def example() -> str:
    """Returns the recorded run as it was printed."""
    data = load("readme/run")
    if data is None:
        return ""
    row = data["rows"]["run"]
    text = "\n".join([f"$ {row['words']}", row["stdout"].rstrip(), row["stderr"].rstrip()])
    return f"```text\n{text.rstrip()}\n```"


REGIONS: dict[str, Callable[[], str]] = {
    "core without torch": lambda: core("without-torch"),
    "core with torch": lambda: core("with-torch"),
    "ratios without torch": lambda: every_ratio("without-torch"),
    "ratios with torch": lambda: every_ratio("with-torch"),
    "winners without torch": lambda: winners("without-torch"),
    "winners with torch": lambda: winners("with-torch"),
    "latency": latency,
    "start up": start_up,
    "noise screen": lambda: noise("screen"),
    "noise full": lambda: noise("full"),
    "landscapes": landscapes,
    "landscape study": study,
    "scheduler": scheduler,
    "threads": threads,
    "placements": placements,
    "task_gate": task_gate,
    "compare cost": compare_cost,
    "example": example,
}
"""Every region by its name in the comment that opens it."""
