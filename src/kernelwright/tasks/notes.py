"""What a writer of kernels must know beside the prototype, one line each."""

from kernelwright.records.task import Case, Task


def notes(task: Task, case: Case) -> list[str]:
    """Each tensor's shape in axes, type, access and storage; derived axes; alignment.

    Args:
        task: names the axes.
        case: one of its workloads, for concrete types.
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
    derived = {name: kind for name, kind in task.axes.items() if kind not in ("free", "fixed")}
    lines += [f"{name} = {text}" for name, text in derived.items()]
    aligned = f"Tensors are aligned to {case.alignment} bytes"
    if case.device == "cpu" and "free" in task.axes.values():
        aligned += ", in one check of small shapes only to an element"
    return [*lines, aligned]
