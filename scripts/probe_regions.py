"""Regions about the probe: what was measured of isolation and timing before the judge was built."""

from __future__ import annotations

from collections.abc import Callable

from scripts.rawdata import Data, load, table

NAME = "probe/probe"


def source(data: Data, extra: str = "") -> str:
    """Returns the line under a table."""
    facts = data["facts"]
    raw = f"[raw data]({{up}}benchmarks/results/{NAME}.json)"
    return (
        f"{facts['cpu']}, {facts['cores']} cores, kernel {facts['kernel'].partition('-')[0]}, "
        f"Python {facts['python']}, numpy {facts['numpy']}, g++ {facts['gxx']}, "
        f"{facts['date'][:10]}; other jobs ran on the machine{extra}; {raw}"
    )


def processes() -> str:
    """Returns what starting, confining and ending a process costs."""
    data = load(NAME)
    if data is None:
        return ""
    words = {
        "python_I_S_start_to_exit": "bare interpreter, start to exit",
        "python_I_numpy_start_to_exit": "the same, importing numpy",
        "zygote_fork_to_hello": "fork of a process that is ready",
        "worker_to_hello": "worker, start to its first word",
        "worker_to_sandboxed": "worker, start to fully confined",
        "kill_plain": "ending a plain worker",
        "kill_sandboxed": "ending a confined one",
    }
    lines = [[words[key], f"{spent:.2f}"] for key, spent in data["spawn_ms"].items()]
    return f"{table(('what', 'ms'), lines)}\n\n{source(data)}"


def layers() -> str:
    """Returns which layers of isolation were obtained, as root and as an ordinary user."""
    data, user = load(NAME), load("probe/layers-ordinary-user")
    if data is None or user is None:
        return ""
    found = [{one["layer"]: one for one in data["layers_as_root"]}]
    found.append({one["layer"]: one for one in user["layers_as_user"]})
    names = list(dict.fromkeys([*found[0], *found[1]]))
    lines = [
        [name.replace("_", " ")]
        + [
            ("yes" if kind[name]["obtained"] else "no") if name in kind else "not tried"
            for kind in found
        ]
        for name in names
    ]
    return f"{table(('layer', 'as root', 'as an ordinary user'), lines)}\n\n{source(data)}"


def caches() -> str:
    """Returns how a copy slows after writes of growing size, by two ways to write."""
    data = load(NAME)
    if data is None:
        return ""
    once, pieces = (data[key]["copy_ms_after_mib"] for key in ("cache", "cache_chunked_writes"))
    lines = [[size, f"{once[size]:.4f}", f"{pieces[size]:.4f}"] for size in once if size in pieces]
    head = ("MiB written before", "copy after one large memset, ms", "after writes in pieces, ms")
    return f"{table(head, lines)}\n\n{source(data)}"


def comparisons() -> str:
    """Returns the price of comparing four million elements."""
    data = load(NAME)
    if data is None:
        return ""
    found = data["comparison"]
    lines = [
        [words, *(f"{found[key][way]:.2f}" for way in ("numpy", "compiled"))]
        for key, words in (
            ("compare_ms", "comparing an output with its answer"),
            ("poison_ms", "filling an output with poison"),
            ("poison_left_ms", "looking for poison that is left"),
        )
    ]
    text = table(("what", "numpy, whole arrays, ms", "compiled, ms"), lines)
    built = f"Building the compiled one took {found['build_s']:.2f} s."
    return f"{text}\n\n{built} {source(data)}"


def twins() -> str:
    """Returns how far two processes of one kernel lie apart for their whole lives."""
    data = load(NAME)
    if data is None:
        return ""
    lines = [
        [one["library"].replace("_", " "), one["threads"], one["shared_memory"],
         f"{one['sd_of_medians_pct']:.2f}", one["excluding_zero"]]
        for one in data["fresh_pairs_shared"]
    ]  # fmt: skip
    head = ("kernel", "threads", "memory shared", "sd of medians, %", "intervals without zero")
    return f"{table(head, lines)}\n\n{source(data, '; its load had risen to 5')}"


def same() -> str:
    """Returns half-widths of A/A comparisons by calls in a block."""
    data = load(NAME)
    if data is None:
        return ""
    lines = [
        [one["library"].replace("_", " "), one["block"],
         *(f"{one['half_width_clustered_pct'][count]:.2f}" for count in ("30", "100", "300")),
         f"{one['seconds_per_100_pairs']:.2f}", one["windows_excluding_zero"]]
        for one in data["same_same"]
    ]  # fmt: skip
    head = ("kernel", "calls in a block", "30 pairs, %", "100 pairs, %", "300 pairs, %",
            "s for 100 pairs", "windows without zero")  # fmt: skip
    return f"{table(head, lines)}\n\n{source(data)}"


REGIONS: dict[str, Callable[[], str]] = {
    "probe processes": processes,
    "probe layers": layers,
    "probe caches": caches,
    "probe comparisons": comparisons,
    "probe twins": twins,
    "probe same": same,
}
