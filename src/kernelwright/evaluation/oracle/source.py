"""Executes the file of a reference and binds its arguments by name.

This is where the user's code runs for the first time. Its folder comes last on the path, so that
a file beside it cannot stand in for a library.
"""

import inspect
import linecache
import random
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.evaluation.oracle.fault import MODULE, Fault, user_code
from kernelwright.records.task import Reference, Task
from kernelwright.tasks.identifier import identifier


def execute(source: str, path: str) -> types.ModuleType:
    """The module that ``source`` makes.

    Args:
        source: its text; what the file holds by now does not matter.
        path: where it came from; shown in tracebacks, its folder is importable.

    Raises:
        Fault: it raises.
    """
    name = path or f"<{MODULE}>"
    folder = str(Path(path).parent) if path else ""
    if folder and folder not in sys.path:
        sys.path.append(folder)
    module = types.ModuleType(MODULE)
    module.__file__ = name
    sys.modules[MODULE] = module
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    with user_code(f"running {Path(name).name}"):
        try:
            exec(compile(source, name, "exec"), module.__dict__)  # noqa: S102 - its purpose
        except ImportError as problem:
            if "relative import" not in str(problem):
                raise
            raise Fault(
                "package",
                f"{Path(name).name} is part of a package: what a library defines is no task",
            ) from None
    return module


def entry_of(module: types.ModuleType, name: str) -> Any:
    """The callable ``name`` of the module.

    Raises:
        Fault: it is missing or cannot be called.
    """
    found = getattr(module, name, None)
    if callable(found):
        return found
    own = [
        word
        for word, one in vars(module).items()
        if callable(one) and getattr(one, "__module__", MODULE) == MODULE and word != "get_inputs"
    ]
    what = f"the reference defines no callable {name!r}"
    if hasattr(module, name):
        what = f"{name!r} of the reference is a {type(found).__name__}, which cannot be called"
    hint = f"its callables: {', '.join(own)}" if own else "define a function of that name"
    raise Fault("entry", what, hint=hint)


def load(reference: Reference) -> tuple[types.ModuleType, Any]:
    """The module of a reference and its entry.

    Raises:
        Fault: it raises, or defines no such callable.
    """
    module = execute(reference.source, reference.path)
    return module, entry_of(module, reference.entry)


def seed_everything(seed: int, torch: Any = None) -> None:
    """Seed the generators a reference may use."""
    random.seed(seed)
    np.random.seed(seed % (1 << 32))  # the user's code draws from it
    if torch is not None:
        torch.manual_seed(seed % (1 << 63))


def drawn(module: types.ModuleType, seed: int, torch: Any = None) -> list[Any]:
    """What ``get_inputs()`` returns under ``seed``.

    Raises:
        Fault: it raises, or returns no list.
    """
    seed_everything(seed, torch)
    with user_code("get_inputs()"):
        found = entry_of(module, "get_inputs")()
    if not isinstance(found, list | tuple):
        what = "None" if found is None else f"a {type(found).__name__}"
        raise Fault("inputs", f"get_inputs() returned {what}, not a list")
    if any(map(_is_nested, found)) and not any(map(is_array, found)):
        raise Fault("inputs", "get_inputs() returned a list of plain numbers in place of an array")
    return list(found)


def argument_names(function: Callable[..., Any], count: int) -> list[str]:
    """Names of the first ``count`` positional parameters; numbered where there is no name."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [
        one.name
        for one in parameters
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    return (names + [f"arg{place}" for place in range(len(names), count)])[:count]


@dataclass(frozen=True)
class Slot:
    """One positional argument of the user's function."""

    kind: str
    """``tensor``, ``scalar``, or ``constant``: a value that is part of the task."""
    name: str = ""
    value: Any = None


def slots_of(
    function: Callable[..., Any],
    values: Sequence[Any],
    is_tensor: Callable[[Any], bool],
    taken: set[str],
) -> list[Slot]:
    """How each value is passed: tensors and numbers by name, anything else as it is."""
    found = []
    for name, value in zip(argument_names(function, len(values)), values, strict=True):
        if is_tensor(value):
            found.append(Slot("tensor", identifier(name, taken)))
        elif isinstance(value, bool | int | float):
            found.append(Slot("scalar", identifier(name, taken), value))
        else:
            found.append(Slot("constant", name, value))
    return found


def bind(
    slots: Sequence[Slot], tensors: Mapping[str, Any], scalars: Mapping[str, Any]
) -> list[Any]:
    """The positional arguments in order."""
    values = []
    for slot in slots:
        if slot.kind == "tensor":
            values.append(tensors[slot.name])
        elif slot.kind == "scalar":
            values.append(scalars.get(slot.name, slot.value))
        else:
            values.append(slot.value)
    return values


def slots_for(task: Task, module: types.ModuleType, call: Any, torch: Any = None) -> list[Slot]:
    """The slots of a loaded task.

    A native task passes inputs, then scalars. A foreign one passes what ``get_inputs()`` returns
    where that draws the inputs; else its signature tells the order.

    Args:
        task: the task.
        module: its module.
        call: its function, or the ``forward`` of its model.
        torch: the framework, where it must be seeded.
    """
    names = [item.name for item in task.inputs]
    scalars = {one.name: one.value for one in task.scalars}
    plain = [Slot("tensor", name) for name in names]
    plain += [Slot("scalar", name, value) for name, value in scalars.items()]
    drawn_here = any(item.values.kind == "given" for item in task.inputs)
    if task.reference.kind == "array":
        return plain
    if drawn_here and hasattr(module, "get_inputs"):
        values = drawn(module, 0, torch)
        found = slots_of(call, values, is_array, {task.entry})
        if {slot.name for slot in found if slot.kind == "tensor"} <= set(names):
            return found
    wanted = argument_names(call, len(names) + len(scalars))
    known = [name for name in wanted if name in names or name in scalars]
    if not known or (task.reference.kind != "kernelbench" and len(known) < len(plain)):
        return plain
    return [
        Slot("tensor" if name in names else "scalar", name, scalars.get(name)) for name in known
    ]


def flatten(result: Any, path: str = "") -> list[tuple[str, Any]]:
    """The arrays in a result with the keys that lead to them, in order."""
    if isinstance(result, Mapping):
        parts = [(f"{path}_{key}" if path else str(key), one) for key, one in result.items()]
    elif isinstance(result, list | tuple):
        fields = getattr(result, "_fields", range(len(result)))
        parts = [
            (f"{path}_{key}" if path else str(key), one)
            for key, one in zip(fields, result, strict=True)
        ]
    else:
        return [(path, result)]
    return [item for key, one in parts for item in flatten(one, key)]


def is_array(value: Any) -> bool:
    """Whether a value is a numpy array or a tensor."""
    return hasattr(value, "dtype") and hasattr(value, "shape")


def _is_nested(value: Any) -> bool:
    """Whether a value is a sequence of plain numbers, where an array is meant."""
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(isinstance(one, int | float) or _is_nested(one) for one in value)
