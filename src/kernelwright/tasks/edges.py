"""Sizes beside the declared ones: edges that break careless kernels, and hidden neighbours.

Only free axes vary: a kernel written for a fixed size is honest, and a task without free axes has
neither edge nor hidden cases.
"""

import math
from typing import Any

import numpy as np

from kernelwright import expressions
from kernelwright.errors import TaskError
from kernelwright.expressions import ExpressionError
from kernelwright.records.task import Case, Device, Task, Workload
from kernelwright.tasks.contract import resolve, workload
from kernelwright.tasks.inputs import generator
from kernelwright.tasks.other_values import other_values

ITEM_BYTES = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1,
    "float8_e5m2": 1, "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1, "bool": 1,
}  # fmt: skip
MAX_CASES = 12
MAX_ELEMENTS = 1 << 20
MAX_FLOPS = 1 << 26
# Rows are cases, columns are axes counted from the last, which a kernel usually vectorises over.
# Each column meets 0 and 1, both sides of several tiles, and sizes that divide nothing.
_ROWS = (
    (0, 3, 2, 2),
    (5, 0, 2, 2),
    (3, 2, 0, 2),
    (1, 1, 1, 1),
    (257, 1, 2, 1),
    (1, 127, 17, 3),
    (16, 17, 3, 1),
    (15, 33, 1, 2),
    (31, 16, 5, 1),
    (129, 15, 2, 3),
    (1025, 2, 1, 1),
    (63, 65, 1, 1),
)
_SINGLE = (0, 1, 2, 7, 15, 17, 31, 65, 127, 257, 1023, 1025)


def edge_cases(task: Task, device: Device) -> list[Case]:
    """A dozen small cases at most: sizes 0, 1, beside tiles and prime; odd storage; gaps.

    With one more for each scalar.

    Storage that is aligned to an element only is tried on the CPU: on a GPU the contract promises
    alignment, and a vector load needs it.

    Args:
        task: whose free axes vary; fixed ones keep the size of the smoke workload.
        device: whose types and scalars are used.
    """
    smoke, main = workload(task, device, "smoke"), workload(task, device)
    free = [name for name, kind in task.axes.items() if kind == "free"]
    if smoke is None or main is None:
        return []
    if not free:
        return _other_scalars(resolve(task, smoke))
    cases = []
    for sizes in _sizes(len(free)):
        axes = main.axes | _fixed(task, smoke) | dict(zip(reversed(free), sizes, strict=False))
        note = "edge " + " x ".join(f"{name}={axes[name]}" for name in free)
        found = _case(task, main, axes, note)
        if found is not None and _small(task, found) and not _too_narrow(found):
            cases.append(found)
    variants = []
    ordinary = next((one for one in reversed(cases) if 0 not in one.axes.values()), None)
    if ordinary is not None and device == "cpu":
        itemsize = max(ITEM_BYTES[one.dtype] for one in (*ordinary.inputs, *ordinary.outputs))
        variants.append(
            ordinary.model_copy(
                update={
                    "alignment": itemsize,
                    "workload": "edge-unaligned",
                    "note": "storage aligned to an element only",
                }
            )
        )
    if ordinary is not None and any(one.strided for one in (*ordinary.inputs, *ordinary.outputs)):
        variants.append(_with_gaps(ordinary))
    scalars = _other_scalars(ordinary or resolve(task, smoke))
    return cases[: MAX_CASES - len(variants)] + variants + scalars


def _other_scalars(case: Case) -> list[Case]:
    """One case more for each number that is passed, with another value of it.

    A whole number may stand for a size or an axis: where the reference fails with the other one,
    or its outputs have other shapes, the case is skipped like any other without an answer.
    """
    found = []
    for one in case.scalars:
        value = next(iter(other_values(one)), None)
        if value is None:
            continue
        scalars = tuple(
            each.model_copy(update={"value": value}) if each is one else each
            for each in case.scalars
        )
        update = {"scalars": scalars, "workload": f"edge-{one.name}"}
        shown = f"{value:g}" if isinstance(value, float) else f"{int(value)}"
        found.append(case.model_copy(update={**update, "note": f"edge {one.name}={shown}"}))
    return found


def hidden_cases(task: Task, device: Device, seed: int) -> list[Case]:
    """Two neighbours of the main workload, their free sizes drawn from a secret seed.

    Every free size moves by up to a fifth, a size below five by one or two. The first case keeps
    a power of two (up to 64) that divides each size, the second does not.
    """
    main = workload(task, device)
    free = [name for name, kind in task.axes.items() if kind == "free"]
    if main is None or not free:
        return []
    random = generator(seed, "hidden shapes")
    cases: list[Case] = []
    for unit_cap in (64, 1):
        axes = dict(main.axes)
        for name in free:
            axes[name] = _neighbour(main.axes[name], unit_cap, random)
        if axes == main.axes:
            axes[free[-1]] += unit_cap
        note = "hidden " + " x ".join(f"{name}={axes[name]}" for name in free)
        found = _case(task, main, axes, note)
        if found is not None and not _too_narrow(found):
            cases.append(found)
    return cases


def _sizes(axes: int) -> list[tuple[int, ...]]:
    if axes == 1:
        return [(size,) for size in _SINGLE]
    rows = [row[:axes] + (2,) * (axes - len(row)) for row in _ROWS]
    return list(dict.fromkeys(rows))


def _fixed(task: Task, smoke: Workload) -> dict[str, int]:
    return {name: smoke.axes[name] for name, kind in task.axes.items() if kind == "fixed"}


def _case(task: Task, main: Workload, axes: dict[str, int], note: str) -> Case | None:
    """None where a derived size does not exist at these sizes."""
    name = note.replace(" x ", "-").replace(" ", "-")
    try:
        made = main.model_copy(update={"name": name, "role": "extra", "axes": axes})
        return resolve(task, made).model_copy(update={"note": note})
    except TaskError:
        return None


def _small(task: Task, case: Case) -> bool:
    elements = sum(math.prod(one.shape) for one in (*case.inputs, *case.outputs))
    if elements > MAX_ELEMENTS:
        return False
    if task.work.flops is None:
        return True
    try:
        return expressions.evaluate(task.work.flops, case.axes) <= MAX_FLOPS
    except ExpressionError:
        return True


def _too_narrow(case: Case) -> bool:
    """Whether an input that has elements has no value it may hold."""
    return any(
        one.values.kind == "integers"
        and float(one.values.high) <= float(one.values.low)
        and 0 not in one.shape
        for one in case.inputs
    )


def _with_gaps(case: Case) -> Case:
    """Strided tensors get gaps: rows padded by three elements, the last axis stepped by two."""

    def spread(shape: tuple[int, ...]) -> tuple[int, ...]:
        strides, step = [], 2
        for extent in reversed(shape):
            strides.append(step)
            step = step * max(extent, 1) + 3
        return tuple(reversed(strides))

    def gapped(tensors: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            one.model_copy(update={"strides": spread(one.shape)}) if one.strided else one
            for one in tensors
        )

    return case.model_copy(
        update={
            "inputs": gapped(case.inputs),
            "outputs": gapped(case.outputs),
            "workload": "edge-strided",
            "note": "non-contiguous strides",
        }
    )


def _neighbour(size: int, cap: int, random: np.random.Generator) -> int:
    if size < 5:
        return max(1, size + int(random.choice((-1, 1, 2))))
    unit = min(size & -size, cap)
    while unit * 5 > size and unit > 1:
        unit //= 2
    reach = max(1, size // 5 // unit)
    move = int(random.integers(1, reach + 1)) * int(random.choice((-1, 1)))
    moved = size + move * unit
    if cap == 1 and moved % 2 == 0 and moved + 1 != size:
        moved += 1
    return max(1, moved)
