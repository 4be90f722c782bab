"""The Python format: a function or ``nn.Module`` class in a file, and example inputs.

Named as ``file.py:name`` it takes its inputs from ``get_inputs()`` beside it; handed in as an
object, from the call. Either way the file is run by the oracle; only example arguments that the
caller hands in are looked at here, for their shapes and ranges, and never kept.
"""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.errors import TaskError
from kernelwright.plugins import nearest
from kernelwright.records.task import DTYPES, Task
from kernelwright.tasks.foreign import build, defined, first_line, source_of, tree_of
from kernelwright.tasks.format import Inputs, Inspector, Spec
from kernelwright.tasks.identifier import identifier


class PythonCallable:
    """Reads ``file.py:name`` or a callable that was defined in a file."""

    def matches(self, spec: Spec) -> bool:
        """Any callable object, and any existing ``file.py:name``."""
        return spec.function is not None or bool(spec.name and spec.path.is_file())

    def read(self, spec: Spec, inspector: Inspector, inputs: Inputs | None) -> Task:
        """The task of a callable, at the shapes of its example inputs.

        Raises:
            TaskError: it has no source file, no such name, no inputs, or fails when it is run.
            PrerequisiteError: torch is missing.
        """
        path, name = (
            (spec.path.resolve(), spec.name) if spec.function is None else _origin(spec.function)
        )
        source = source_of(path)
        tree = tree_of(source, path)
        names = defined(tree)
        if name not in names:
            raise TaskError(
                f"{path} defines no {name!r}",
                hint=nearest(name, tuple(names), "it defines no function"),
            )
        if inputs is None and "get_inputs" not in names:
            raise TaskError(
                f"{name!r} has no example inputs",
                hint=f"define get_inputs() in {path.name}, or hand in inputs=",
            )
        entry = identifier(name, set())
        description = inspector(
            {
                "format": "python",
                "path": str(path),
                "source": source,
                "name": name,
                "entry": entry,
                "examples": None if inputs is None else examples(inputs),
            }
        )
        summary = first_line(names[name]) or first_line(tree)
        reference = {"entry": name, "source": source, "path": str(path), "fused": False}
        return build(description, name=name, entry=entry, summary=summary, reference=reference)


def examples(inputs: Inputs) -> list[dict[str, Any]]:
    """What example arguments say of themselves: shape, dtype and a range, or a number.

    A float array whose elements are all at least zero is drawn uniformly between its extremes,
    another one normally with its mean and deviation; integers stay within their extremes.

    Raises:
        TaskError: an argument is neither an array nor a number.
    """
    given: Any = inputs() if callable(inputs) else inputs
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise TaskError(
            f"inputs is a {type(given).__name__}, not a list or tuple of arrays and numbers",
            hint="inputs=[x, …], or a function that returns such a list",
        )
    return [_example(value, place) for place, value in enumerate(given)]


def _example(value: Any, place: int) -> dict[str, Any]:
    if isinstance(value, bool | int | float):
        return {"scalar": value}
    array, dtype = _array(value)
    if array is None or dtype not in DTYPES:
        raise TaskError(
            f"example input {place} is a {type(value).__name__}{f' of {dtype}' if dtype else ''}; "
            "only arrays and numbers can be passed to a kernel",
            hint="wrap the callable in a function that takes arrays and numbers",
        )
    return {
        "shape": list(array.shape),
        "dtype": dtype,
        "values": _values(array),
        "torch": hasattr(value, "detach"),
    }


def _array(value: Any) -> tuple[np.ndarray[Any, Any] | None, str]:
    """A numpy array of an array-like, and the name of its dtype."""
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value), value.dtype.name
    if hasattr(value, "detach") and hasattr(value, "dtype"):  # a torch tensor, without importing it
        dtype = str(value.dtype).removeprefix("torch.")
        plain = value.detach().cpu()
        exact = plain if dtype in ("int64", "bool") else plain.double()
        return np.asarray(exact.numpy()), dtype
    return None, ""


def _values(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """The range of the values of an example, as a task declares it."""
    if array.dtype == bool:
        return {"kind": "integers", "low": 0, "high": 2}
    if array.dtype.kind in "iu":
        first, last = (int(array.min()), int(array.max())) if array.size else (0, 0)
        return {"kind": "integers", "low": first, "high": last + 1}
    finite = array.astype(np.float64)
    finite = finite[np.isfinite(finite)]
    if not finite.size:
        return {"kind": "normal"}
    low, high, spread = float(finite.min()), float(finite.max()), float(finite.std())
    if spread == 0:
        return {"kind": "uniform", "low": low, "high": low + 0.25}
    if low >= 0:
        return {"kind": "uniform", "low": low, "high": high}
    return {"kind": "normal", "mean": float(finite.mean()), "std": spread}


def _origin(function: Callable[..., Any]) -> tuple[Path, str]:
    """The file that defines a callable, and its name there.

    Raises:
        TaskError: it has no source file, or is no name of its module.
    """
    name = str(getattr(function, "__qualname__", ""))
    path: str | None
    try:
        path = inspect.getsourcefile(inspect.unwrap(function))
    except TypeError:
        path = None
    if not path or not Path(path).is_file():
        compiled = not hasattr(inspect.unwrap(function), "__code__")
        what = "write a function that calls it in a file" if compiled else "define it in a file"
        raise TaskError(
            f"{name or type(function).__name__!r} has no source file",
            hint=f"{what}: the reference is run in a process of its own",
        )
    if not name.isidentifier():
        raise TaskError(
            f"{name!r} is not defined at the top level of {path}",
            hint="the reference is run in a process of its own, which must find it by its name",
        )
    return Path(path), name
