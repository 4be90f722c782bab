"""The contract between a task and a kernel: concrete shapes, order of arguments, prototypes.

:func:`arguments` is the single source of that order; prototypes and the worker's binding both
follow it. This module describes; it neither draws inputs nor runs anything.
"""

import re
from dataclasses import dataclass
from typing import Literal

import ml_dtypes
import numpy as np

from kernelwright import expressions
from kernelwright.candidates.notation import Notation, notation
from kernelwright.errors import TaskError
from kernelwright.expressions import ExpressionError
from kernelwright.plugins import nearest
from kernelwright.records.task import (
    Case,
    Device,
    Role,
    Scalar,
    Shaped,
    Task,
    Tensor,
    Values,
    Workload,
)
from kernelwright.tasks.memory import check_memory
from kernelwright.tasks.notes import notes, type_note
from kernelwright.tasks.python_form import python_form

NARROW = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
"""Types too narrow to sum in; a scalar of one is rounded to it and passed as ``float``."""


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel, in its place."""

    kind: Literal["tensor", "strides", "scalar", "axis"]
    name: str
    dtype: str
    """Of the elements or the scalar; ``int64`` for axes and strides."""
    role: Literal["input", "output", ""] = ""
    value: float | int | bool = 0
    """Of a scalar or an axis."""
    tensor: Shaped | None = None
    """For tensors and their strides."""


def arguments(case: Case) -> list[Argument]:
    """Every argument of a compiled kernel in order: inputs, outputs, scalars, axes.

    A strided tensor is followed by its strides. A workspace and what the language adds at the end
    are not listed.
    """
    found = []
    for role, tensors in (("input", case.inputs), ("output", case.outputs)):
        for item in tensors:
            part: Literal["input", "output"] = "input" if role == "input" else "output"
            found.append(Argument("tensor", item.name, item.dtype, part, tensor=item))
            if item.strided:
                found.append(Argument("strides", f"{item.name}_strides", "int64", tensor=item))
    found += [Argument("scalar", one.name, one.dtype, value=one.value) for one in case.scalars]
    found += [Argument("axis", name, "int64", value=size) for name, size in case.axes.items()]
    return found


def workload(task: Task, device: Device, role: Role = "main") -> Workload | None:
    """The workload of that role, else the main one, else the first of the device, else None."""
    here = [one for one in task.workloads if one.device == device]
    for wanted in (role, "main"):
        for one in here:
            if one.role == wanted:
                return one
    return here[0] if here else None


def extents(task: Task, passed: dict[str, int]) -> dict[str, int]:
    """Every axis, derived ones computed.

    Raises:
        TaskError: a derived axis has no whole, non-negative value.
    """
    known = dict(passed)
    waiting = {name: kind for name, kind in task.axes.items() if kind not in ("free", "fixed")}
    while waiting:
        ready = [name for name, text in waiting.items() if expressions.names(text) <= set(known)]
        if not ready:
            raise TaskError(f"axes {sorted(waiting)} are defined by one another")
        for name in ready:
            known[name] = _whole(waiting.pop(name), known, f"axis {name!r}")
    return known


def resolve(task: Task, chosen: Workload | str) -> Case:
    """One workload with every shape, dtype, range and scalar concrete.

    Args:
        task: the task.
        chosen: one of its workloads, its name, or a workload made for the occasion.

    Raises:
        TaskError: there is no such workload, or a shape has no whole, non-negative value.
    """
    if isinstance(chosen, str):
        by_name = {one.name: one for one in task.workloads}
        if chosen not in by_name:
            raise TaskError(
                f"task {task.name!r} has no workload {chosen!r}",
                hint=nearest(chosen, tuple(by_name)),
            )
        chosen = by_name[chosen]
    types = task.types | chosen.types
    known = extents(task, chosen.axes)
    scalars = []
    for one in task.scalars:
        value = chosen.scalars.get(one.name, one.value)
        scalars.append(Scalar(name=one.name, dtype=types.get(one.dtype, one.dtype), value=value))
    inputs = tuple(_shaped(one, types, known) for one in task.inputs)
    outputs = tuple(_shaped(one, types, known) for one in task.outputs)
    if chosen.device == "cpu":
        check_memory(chosen.name, (*inputs, *outputs))
    passed = {name: known[name] for name, kind in task.axes.items() if kind in ("free", "fixed")}
    return Case(
        workload=chosen.name,
        device=chosen.device,
        inputs=inputs,
        outputs=outputs,
        scalars=tuple(scalars),
        axes=passed,
        alignment=chosen.alignment,
    )


def prototype(
    task: Task, language: str, device: Device | None = None, *, workspace: bool = False
) -> str:
    """The exact declaration a candidate must match, with what it may rely on as comments.

    Types are those of the device's main workload. Python forms get no strides: their tensors
    know them.

    Args:
        task: what the candidate computes.
        language: of the candidate.
        device: where it runs; None: where kernels of the language usually do.
        workspace: the form of a C candidate that asks for scratch memory, see
            :func:`wants_workspace`.

    Raises:
        TaskError: the task has no workload.
        UsageError: the language is not installed.
    """
    written = notation(language)
    here = device or written.device
    found = workload(task, here) or workload(task, "gpu" if here == "cpu" else "cpu")
    if found is None:
        raise TaskError(f"task {task.name!r} has no workload")
    case = resolve(task, found)
    if written.like_c:
        return _c_form(task, case, task.types | found.types, written, workspace)
    names = [item.name for item in arguments(case) if item.kind != "strides"]
    return python_form(task, written.models, notes(task, case, written), names)


def wants_workspace(task: Task, source: str) -> bool:
    """Whether C source exports ``<entry>_workspace``, which says how many bytes of scratch."""
    return re.search(rf"\b{re.escape(task.entry)}_workspace\s*\(", source) is not None


def scalar_value(dtype: str, value: float) -> float | int | bool:
    """``value`` as a kernel receives it, rounded to its type, as a plain Python number."""
    if dtype == "bool":
        return bool(value)
    if "float" not in dtype:
        return int(value)
    if dtype in ("float64", "float32"):
        return float(np.dtype(dtype).type(value))
    return float(np.float32(value).astype(getattr(ml_dtypes, dtype, np.float16)))


def _c_form(
    task: Task, case: Case, types: dict[str, str], written: Notation, workspace: bool
) -> str:
    words = []
    for item in arguments(case):
        ctype = written.types[item.dtype]
        if item.kind == "tensor":
            words.append(f"{'const ' if item.role == 'input' else ''}{ctype}* {item.name}")
        elif item.kind == "strides":
            words.append(f"const int64_t* {item.name}")
        else:
            words.append(f"{'float' if item.dtype in NARROW else ctype} {item.name}")
    if workspace:
        words.append("void* workspace")
    words += [written.last] if written.last else []
    macros = written.macros(types)
    said = [*notes(task, case, written), *(type_note(macros) if macros else ())]
    lines = [f"{written.comment} {line}" for line in said]
    lines += [f"#define {name} {ctype}" for name, ctype in macros.items()]
    return "\n".join([*lines, f'extern "C" int {task.entry}({", ".join(words)});'])


def _shaped(item: Tensor, types: dict[str, str], known: dict[str, int]) -> Shaped:
    shape = tuple(_whole(extent, known, f"the shape of {item.name!r}") for extent in item.shape)
    values = item.values
    bounds = {
        side: _bound(text, known, f"the range of {item.name!r}")
        for side, text in (("low", values.low), ("high", values.high))
        if isinstance(text, str)
    }
    return Shaped.model_validate(
        {
            "name": item.name,
            "shape": shape,
            "dtype": types.get(item.dtype, item.dtype),
            "strided": item.strided,
            "values": Values.model_validate(values.model_dump() | bounds),
        }
    )


def _bound(text: str, known: dict[str, int], what: str) -> float:
    try:
        return float(expressions.evaluate(text, known))
    except (ExpressionError, OverflowError) as problem:
        raise TaskError(f"{what}: {problem}") from problem


def _whole(text: str | int, known: dict[str, int], what: str) -> int:
    try:
        value = expressions.evaluate_int(text, known)
    except ExpressionError as problem:
        raise TaskError(f"{what}: {problem}") from problem
    if value < 0:
        raise TaskError(f"{what} is {value}, below zero")
    if value >= 2**63:  # beside an axis of size 0 no memory is needed for it
        raise TaskError(f"{what} is larger than any tensor's")
    return value
