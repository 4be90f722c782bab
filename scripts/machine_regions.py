"""Regions about what things cost: landscapes, scheduler, threads, placements, a task's gate."""

from __future__ import annotations

from statistics import median

from scripts.rawdata import Data, load, source, table


def study() -> str:
    """Returns device time to nearly the best of each landscape, by way of searching."""
    name = "landscapes/study"
    data = load(name)
    if data is None:
        return ""
    groups: dict[tuple[str, str], list[Data]] = {}
    for row in data["rows"].values():
        groups.setdefault((row["op"], row["way"]), []).append(row)
    lines = []
    for (op, way), found in groups.items():
        times = sorted(row["device_s"] for row in found)
        low, high = spread_of_median(times)
        lines.append(
            [op, way, f"{median(times):.0f} [{low:.0f}, {high:.0f}]",
             f"{sum(row['reached'] for row in found)}/{len(found)}",
             f"{median([row['final'] for row in found]):.3f}"]
        )  # fmt: skip
    head = ("task", "way", "device s to 95 % of the best [95 %]", "reached", "final")
    return f"{table(head, lines)}\n\n{source(name, data)}"


def spread_of_median(values: list[float]) -> tuple[float, float]:
    """Returns a 95 % interval of the median by its order statistics."""
    n = len(values)
    half = 0.98 * n**0.5
    return values[max(0, round(n / 2 - half) - 1)], values[min(n - 1, round(n / 2 + half))]


def scheduler() -> str:
    """Returns what scheduler and store take for one candidate."""
    name = "scheduler/scheduler"
    data = load(name)
    if data is None:
        return ""
    lines = [
        [row["candidates"], row["evaluations"],
         f"{1e3 * row['cpu_s'] / row['candidates']:.2f}",
         f"{1e3 * row['wall_s'] / row['candidates']:.2f}",
         f"{row['store_bytes'] / row['candidates'] / 1024:.1f}"]
        for row in data["rows"].values()
    ]  # fmt: skip
    head = ("candidates", "evaluations", "processor ms each", "wall ms each", "KiB each")
    return f"{table(head, lines)}\n\n{source(name, data)}"


def threads() -> str:
    """Returns what policies for waiting threads do."""
    name = "threads/policies"
    data = load(name)
    if data is None:
        return ""
    groups: dict[str, list[Data]] = {}
    for row in data["rows"].values():
        groups.setdefault(row["policy"], []).append(row)
    lines = [
        [policy, f"{median([row['rate_gflops'] for row in found]):.0f}",
         f"{median([row['warm_read_gbps'] for row in found]):.0f}"]
        for policy, found in groups.items()
    ]  # fmt: skip
    head = ("policy", "GFLOP/s", "GB/s of a warm megabyte")
    return f"{table(head, lines)}\n\n{source(name, data)}"


def placements() -> str:
    """Returns the ratio of one pair of kernels, session after session."""
    name = "placements/copy"
    data = load(name)
    if data is None:
        return ""
    lines = [
        [row["opened"], row["places"], f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]",
         f"{row['candidate_us']:.0f}", f"{row['baseline_us']:.0f}"]
        for row in sorted(data["rows"].values(), key=lambda one: (one["places"], one["opened"]))
        if "ratio" in row
    ]  # fmt: skip
    head = ("session", "places", "ratio [98.75 %]", "kernel µs", "baseline µs")
    return f"{table(head, lines)}\n\n{source(name, data)}"


def task_gate() -> str:
    """Returns what checking each core task costs."""
    name = "task_gate/task_gate"
    data = load(name)
    if data is None:
        return ""
    groups: dict[str, dict[str, Data]] = {}
    for row in data["rows"].values():
        groups.setdefault(row["task"], {})[row["part"]] = row
    lines = [
        [task, *(cell for part in ("smallest", "all")
                 for cell in (parts[part]["controls"], f"{median(parts[part]['ms']):.0f}"))]
        for task, parts in groups.items()
    ]  # fmt: skip
    head = ("task", "controls, smallest workload", "ms", "controls, all workloads", "ms")
    return f"{table(head, lines)}\n\n{source(name, data)}"
