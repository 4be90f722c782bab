"""Runs a foreign file once and says what it is: arguments, parameters, outputs.

The file's own shapes are taken as they are. What is no array or number becomes a constant of the
task, and so does a buffer on which the result does not depend.
"""

from typing import Any

import numpy as np

from kernelwright.evaluation.oracle.fault import Fault, import_torch, user_code
from kernelwright.evaluation.oracle.source import (
    Slot,
    drawn,
    entry_of,
    execute,
    flatten,
    is_array,
    slots_of,
)
from kernelwright.records.task import DTYPES, Case, Shaped, Values
from kernelwright.tasks.identifier import identifier
from kernelwright.tasks.inputs import draw

SEED = 0


def describe(request: dict[str, Any]) -> dict[str, Any]:
    """What a foreign file computes.

    Args:
        request: ``format`` (``kernelbench`` or ``python``), ``path``, ``source``, ``name`` of the
            model or function, ``entry`` of the kernel, ``examples`` (None: ``get_inputs()``).

    Returns:
        ``kind`` of the reference, ``inputs``, ``outputs`` and ``scalars``.

    Raises:
        Fault: the file does not work.
    """
    if request["format"] == "kernelbench":
        import_torch()
    module = execute(request["source"], request["path"])
    function = entry_of(module, request["name"])
    examples = request.get("examples")
    if examples is None:
        values = drawn(module, SEED, _torch_if_loaded())
    else:
        framework = any(one.get("torch") for one in examples) or _is_model(function)
        values = _examples(examples, framework=framework)
    framework = any(type(value).__module__.partition(".")[0] == "torch" for value in values)
    if framework or _is_model(function):
        return _describe_torch(request, module, function, values)
    return _describe_numpy(request, function, values)


def _describe_numpy(request: dict[str, Any], function: Any, values: list[Any]) -> dict[str, Any]:
    taken = {request["entry"]}
    slots = slots_of(function, values, is_array, taken)
    with user_code("the reference"):
        result = function(*values)
    outputs = []
    for path, value in flatten(result):
        if not is_array(value):
            raise Fault("dtype", f"the reference returned a {type(value).__name__}, not an array")
        outputs.append((path, list(np.shape(value)), np.asarray(value).dtype.name))
    return _description("numpy", request, slots, values, {}, outputs, taken)


def _describe_torch(
    request: dict[str, Any], module: Any, function: Any, values: list[Any]
) -> dict[str, Any]:
    import torch

    from kernelwright.evaluation.oracle import framework
    from kernelwright.evaluation.oracle.tensors import dtype_name, is_tensor

    values = [torch.from_numpy(one) if isinstance(one, np.ndarray) else one for one in values]
    taken = {request["entry"]}
    model, states = None, {}
    call = function
    if _is_model(function):
        model = framework.build_model(module, function, SEED)
        framework.randomise(model, SEED)
        call = model.forward
    slots = slots_of(call, values, is_tensor, taken)
    if model is not None:
        names = framework.state_names(model, taken)
        used = _used(model, [path for path in names if path in dict(model.named_buffers())], values)
        tensors = model.state_dict()
        states = {
            name: (list(tensors[path].shape), dtype_name(tensors[path]))
            for path, name in names.items()
            if path not in dict(model.named_buffers()) or path in used
        }
    with user_code("the reference"), torch.no_grad():
        result = (model or function)(*values)
    framework.outputs_of(result)
    outputs = [(path, list(one.shape), dtype_name(one)) for path, one in flatten(result)]
    kind = "torch" if model is None else "kernelbench"
    return _description(kind, request, slots, values, states, outputs, taken)


def _description(
    kind: str,
    request: dict[str, Any],
    slots: list[Slot],
    values: list[Any],
    states: dict[str, tuple[list[int], str]],
    outputs: list[tuple[str, list[int], str]],
    taken: set[str],
) -> dict[str, Any]:
    examples = request.get("examples") or [{}] * len(values)
    inputs, scalars = [], []
    for slot, value, example in zip(slots, values, examples, strict=True):
        if slot.kind == "tensor":
            dtype = str(value.dtype).removeprefix("torch.")
            item = {"name": slot.name, "shape": list(value.shape), "dtype": dtype}
            inputs.append(item | {"values": example.get("values", {"kind": "given"})})
        elif slot.kind == "scalar":
            dtype = {bool: "bool", int: "int64", float: "float64"}[type(value)]
            scalars.append({"name": slot.name, "dtype": dtype, "value": value})
    inputs += [
        {"name": name, "shape": shape, "dtype": dtype, "values": {"kind": "given"}}
        for name, (shape, dtype) in states.items()
    ]
    found = []
    for path, shape, dtype in outputs:
        name = identifier(f"out{path}" if not path or path[0].isdigit() else path, taken)
        found.append({"name": name, "shape": shape, "dtype": dtype})
    for item in (*inputs, *found):
        if item["dtype"] not in DTYPES:
            raise Fault("dtype", f"{item['name']!r} is {item['dtype']}, which kernels do not take")
    return {"kind": kind, "inputs": inputs, "outputs": found, "scalars": scalars}


def _used(model: Any, paths: list[str], values: list[Any]) -> set[str]:
    """The buffers that change the result when they change, or whose change breaks it."""
    import copy

    import torch

    from kernelwright.evaluation.oracle import framework

    def run(changed: str = "") -> list[Any]:
        twin = copy.deepcopy(model)
        if changed:
            buffer = twin.state_dict()[changed]
            other = 1 - buffer.int() if buffer.dtype == torch.bool else buffer * 2 + 1
            buffer.copy_(other.to(buffer.dtype))
        arguments = [one.clone() if isinstance(one, torch.Tensor) else one for one in values]
        torch.manual_seed(SEED)
        with user_code("the reference"), torch.no_grad():
            return framework.outputs_of(twin(*arguments))

    if not paths:
        return set()
    plain, used = run(), set()
    for path in paths:
        try:
            other = run(path)
        except Fault:
            used.add(path)
            continue
        same = all(
            torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(plain, other, strict=True)
        )
        if not same:
            used.add(path)
    return used


def _examples(examples: list[dict[str, Any]], *, framework: bool) -> list[Any]:
    """Arguments like the caller's own, drawn anew."""
    from kernelwright.evaluation.arena import numpy_dtype

    values: list[Any] = []
    for place, example in enumerate(examples):
        if "scalar" in example:
            values.append(example["scalar"])
            continue
        item = Shaped(
            name=f"arg{place}",
            shape=tuple(example["shape"]),
            dtype=example["dtype"],
            values=Values.model_validate(example["values"]),
        )
        case = Case(
            workload="example", device="cpu", inputs=(item,), outputs=(), scalars=(), axes={}
        )
        array = np.zeros(item.shape, numpy_dtype(item.dtype))
        draw(case, SEED, {item.name: array})
        if framework:
            from kernelwright.evaluation.oracle.tensors import tensor_of

            values.append(tensor_of(array))
        else:
            values.append(array)
    return values


def _is_model(function: Any) -> bool:
    return isinstance(function, type) and any(
        kind.__module__.startswith("torch.nn") for kind in function.__mro__
    )


def _torch_if_loaded() -> Any:
    """The framework if the file imported it; seeding is needless otherwise."""
    import sys

    return sys.modules.get("torch")
