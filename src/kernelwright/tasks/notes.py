"""What a writer of kernels must know beside the prototype, one line each."""

from collections.abc import Mapping

from kernelwright.candidates.notation import Notation
from kernelwright.records.task import Case, Task
from kernelwright.tasks import hostile

BITS = {
    "bitwise": "the same bits in every run",
    "within_tolerance": "bits may differ between runs",
}
"""Policies of determinism, in words."""


def notes(task: Task, case: Case, written: Notation) -> list[str]:
    """Each tensor's shape in axes, type, access and storage; types; derived axes; alignment.

    Args:
        task: names the axes.
        case: one of its workloads, for concrete types.
        written: the language in which types are explained.
    """
    lines = []
    symbolic = {item.name: item for item in (*task.inputs, *task.outputs)}
    for item in (*case.inputs, *case.outputs):
        shape = ", ".join(str(extent) for extent in symbolic[item.name].shape)
        access = "read only" if item in case.inputs else "to be written"
        storage = "strides in elements" if item.strided else "contiguous"
        line = f"{item.name}: [{shape}] {item.dtype}, {storage}, {access}"
        values = symbolic[item.name].values
        if values.kind == "integers" and item in case.inputs:
            low, high = (f"{v:g}" if isinstance(v, float) else v for v in (values.low, values.high))
            line += f", values from {low} to below {high}"
        lines.append(line)
    lines += _special(case)
    lines.append(written.in_words(item.dtype for item in (*case.inputs, *case.outputs)))
    derived = {name: kind for name, kind in task.axes.items() if kind not in ("free", "fixed")}
    lines += [f"{name} = {text}" for name, text in derived.items()]
    aligned = f"Tensors are aligned to {case.alignment} bytes"
    if case.device == "cpu" and "free" in task.axes.values():
        aligned += ", in one check of small shapes only to an element"
    return [*lines, aligned]


def type_note(macros: Mapping[str, str]) -> list[str]:
    """What is said of the macros of a task's types, above the lines that define them."""
    name, ctype = next(iter(macros.items()))
    return [
        f"{name} is defined before your source: written for {ctype}, it makes one source serve",
        "workloads of other types, too. To compile alone as well, begin with",
        f"#ifndef {name} / #define {name} {ctype} / #endif",
    ]


def _special(case: Case) -> list[str]:
    """Which input holds infinities and NaN in the checks; none where no input does."""
    name = hostile.non_finite(case)
    if name is None:
        return []
    return [
        f"{name} holds infinities and NaN in some checks: they must come out as in the reference",
        "(a compensated sum, as Kahan's, makes NaN of an infinity)",
    ]


def accuracy(task: Task, case: Case) -> str:
    """How exact a candidate must be, by the types of one workload; one sentence or more.

    An honest evaluation sums in the task's accumulate type, or in the type of an input where that
    is wider.
    """
    parts = []
    kinds = {"float" if "float" in item.dtype else "integer" for item in case.outputs}
    if "float" in kinds:
        wide = any(item.dtype == "float64" for item in case.inputs)
        summed = "float64" if wide else task.accumulate
        parts.append(f"error at most {task.tolerance.k:g} times that of an honest {summed} sum")
    if "integer" in kinds:
        parts.append("integers must be equal")
    if task.precision:
        parts.append(f"may compute in {', '.join(task.precision)}")
    return "; ".join(parts)
