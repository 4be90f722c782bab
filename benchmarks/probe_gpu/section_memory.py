"""Sections about memory: which handles can be shared, and what the verifier's own work costs.

Each writes one raw file. Seconds, unless a name says other.
"""

import json
import os
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from raw import clock, write

# ---------------------------------------------------------------- sharing


def refused(step: Any) -> dict[str, Any]:
    """What a question to a worker brought: its reply, or the error it ended in."""
    from sides import Refused

    try:
        return step()
    except Refused as problem:
        return {"error": problem.seen["text"]}


def ask_peek(verifier: Any, block: Any, message: dict[str, Any]) -> dict[str, Any]:
    """A fresh worker opens the block and reads; it may die of it."""
    side = verifier.workers.take()
    fd = block.descriptor()
    try:
        return refused(lambda: side.ask({"verb": "peek", "size": block.size, **message}, 5.0, [fd]))
    finally:
        os.close(fd)
        side.kill()


def neighbours_ipc(verifier: Any, size: int) -> dict[str, Any]:
    """Two ordinary allocations of one size; only the first one's handle is given away."""
    from device import call, driver

    every = sorted(int(call(driver.cuMemAlloc(size))) for _ in range(8))
    first, second = min(pairwise(every), key=lambda two: two[1] - two[0])
    call(driver.cuMemsetD32(first, 11, size // 4))
    call(driver.cuMemsetD32(second, 22, size // 4))
    row: dict[str, Any] = {"size": size, "distance": second - first}
    try:
        began = time.perf_counter()
        handle = call(driver.cuIpcGetMemHandle(first))
        row["get_us"] = 1e6 * (time.perf_counter() - began)
        side = verifier.workers.take()
        message = {"verb": "peek_ipc", "handle": bytes(handle.reserved).hex(),
                   "at": second - first}  # fmt: skip
        row |= refused(lambda: side.ask(message, 5.0))
        side.kill()
    except Exception as problem:  # noqa: BLE001 the error is the finding
        row["error"] = f"{type(problem).__name__}: {problem}"
    for address in every:
        call(driver.cuMemFree(address))
    row["neighbour_read"] = row.get("beyond") == 22
    return row


def sharing(results: Path, folder: Path) -> None:
    """Which handles work, what they cost, and whether a neighbour can be read through them."""
    from device import call, create_block, driver, read_u32
    from verifier import Verifier

    verifier = Verifier(folder / "sharing", batch=10)
    rows: dict[str, Any] = {"own_s": verifier.own_s, "zygote": verifier.workers.hello}
    blocks = [create_block(1 << 20) for _ in range(2)]
    for i, block in enumerate(blocks):
        call(driver.cuMemsetD32(block.address, 11 * (i + 1), block.size // 4))
    first = blocks[0]
    rows["block"] = {"asked": 1 << 20, "size": first.size,
                     "distance": blocks[1].address - first.address}  # fmt: skip
    rows["create"] = clock(lambda: create_block(2 << 20).release(), 50)
    rows["export"] = clock(lambda: os.close(first.descriptor()), 50)
    rows["inside"] = ask_peek(verifier, first, {"at": 0})
    rows["beyond"] = ask_peek(verifier, first, {"at": first.size})
    rows["read_only_read"] = ask_peek(verifier, first, {"at": 0, "writable": False})
    rows["read_only_written"] = ask_peek(
        verifier, first, {"at": 0, "writable": False, "write": True}
    )
    rows["written_by_worker"] = ask_peek(verifier, first, {"at": 0, "write": True})
    rows["seen_here_after_write"] = read_u32(first.address)[0]
    sizes = [512 << 10, 1 << 20, 2 << 20, 3 << 20]
    rows["ipc"] = [neighbours_ipc(verifier, size) for size in sizes]
    rows["prime_s"] = verifier.workers.prime_s
    rows["prime_parts"] = verifier.workers.take().parts
    rows["free_per_worker_mib"] = worker_memory(verifier)
    verifier.close()
    write(results, "sharing", rows)
    print("sharing", json.dumps(rows))


def worker_memory(verifier: Any) -> float:
    import device

    time.sleep(1.0)  # whatever was killed before is gone
    before = device.free_bytes()
    side = verifier.workers.fresh()
    used = before - device.free_bytes()
    side.kill()
    return used / 2**20


# ---------------------------------------------------------------- the verifier's own work


def ended(step: Any) -> Any:
    """The step, synchronized."""
    import device

    def run() -> None:
        step()
        device.synchronize()

    return run


def own_work(verifier: Any, name: str) -> dict[str, Any]:
    """Fill, poison and check of one slot and of ten; then a whole round of ten calls."""
    from ring import SLOTS

    ring, side = verifier.ring(name), verifier.baseline(name)
    every = list(range(SLOTS))
    verifier.block(side, ring, "contents")
    row = {
        "in_mib": ring.task.in_elements * ring.task.width / 2**20,
        "fill": clock(ended(lambda: verifier.fill(ring, [0])), 30),
        "poison": clock(ended(lambda: verifier.poison(ring, [0])), 30),
        "fill_ten": clock(ended(lambda: verifier.fill(ring, every)), 10),
        "poison_ten": clock(ended(lambda: verifier.poison(ring, every)), 10),
    }
    verifier.block(side, ring, "contents")
    row["check"] = clock(lambda: verifier.check(ring, [0]), 30)
    row["check_ten"] = clock(lambda: verifier.check(ring, every), 10)
    row["round_of_ten"] = clock(lambda: verifier.block(side, ring, "contents"), 20)
    row["worst_of_baseline"] = max(report["worst"] for report in verifier.check(ring, every))
    return row


def contents(results: Path, folder: Path) -> None:
    """What the verifier's own work costs, for each task."""
    from tasks import TASKS
    from verifier import Verifier

    verifier = Verifier(folder / "contents", batch=1)
    rows = {name: own_work(verifier, name) for name in TASKS}
    verifier.close()
    write(results, "contents", rows)
    print("contents", json.dumps(rows))
