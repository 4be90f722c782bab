"""How a KernelBench model is built and called, in values that a jail can be told.

A candidate's process never sees the reference. What it needs of it, the arguments of the
constructor and the names of parameters, travels as JSON; what is more than plain values does not.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kernelwright.evaluation.arena import numpy_dtype
from kernelwright.evaluation.oracle.fault import user_code
from kernelwright.evaluation.oracle.framework import TorchProgram
from kernelwright.evaluation.oracle.source import entry_of
from kernelwright.evaluation.oracle.tensors import dtype_name, tensor_of
from kernelwright.records.task import Case
from kernelwright.tasks import inputs
from kernelwright.tasks.contract import scalar_value

SEED = 0
_PLAIN = (bool, int, str, type(None))


class NotPlain(Exception):
    """A value that is no number, text, truth value, None, or collection of those."""


def model_interface(program: TorchProgram, case: Case) -> dict[str, Any]:
    """What a candidate's ``ModelNew`` is built with and called with.

    Raises:
        Fault: the reference fails.
    """
    try:
        init, named = _init(program.module)
        forward = [
            {"name": slot.name} if slot.kind != "constant" else {"value": encoded(slot.value)}
            for slot in program.slots
        ]
    except NotPlain as problem:
        return {"unsupported": str(problem)}
    states = program.model.state_dict()
    return {
        "init": init,
        "named": named,
        "forward": forward,
        "scalars": [one.name for one in program.task.scalars],
        "states": [
            {
                "path": path,
                "name": name,
                "shape": list(states[path].shape),
                "dtype": dtype_name(states[path]),
            }
            for path, name in program.states.items()
        ],
        "outputs": _outputs(program, case),
    }


def encoded(value: Any) -> list[Any]:
    """A plain value with its kind, so that a tuple stays one in JSON.

    Raises:
        NotPlain: it holds something else.
    """
    kind = type(value)
    if kind is dict:
        return ["dict", [[encoded(key), encoded(one)] for key, one in value.items()]]
    if kind in (list, tuple):
        return [kind.__name__, [encoded(one) for one in value]]
    if kind in _PLAIN or (kind is float and math.isfinite(value)):
        return ["plain", value]
    raise NotPlain(f"get_init_inputs() or get_inputs() gives a {kind.__name__}, no plain value")


def _init(module: Any) -> tuple[list[Any], dict[str, Any]]:
    if not hasattr(module, "get_init_inputs"):
        return [], {}
    with user_code("get_init_inputs()"):
        found = entry_of(module, "get_init_inputs")()
    if isinstance(found, Mapping):
        return [], {str(name): encoded(value) for name, value in found.items()}
    return [encoded(value) for value in found], {}


def _outputs(program: TorchProgram, case: Case) -> list[dict[str, Any]]:
    """Of each output, whether the reference itself returns memory of an input; its strides."""
    contents = {one.name: np.zeros(one.shape, numpy_dtype(one.dtype)) for one in case.inputs}
    inputs.draw(case, SEED, contents)
    contents |= program.given(SEED)
    tensors = {name: tensor_of(array.copy()) for name, array in contents.items()}
    scalars = {one.name: scalar_value(one.dtype, one.value) for one in case.scalars}
    ranges = [_range(one) for one in tensors.values()]
    found = program.call(tensors, scalars)
    return [
        {
            "aliased": any(_meet(_range(one), other) for other in ranges),
            "strides": list(one.stride()),
        }
        for one in found
    ]


def _range(tensor: Any) -> tuple[int, int]:
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.data_ptr() + storage.nbytes()


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]
