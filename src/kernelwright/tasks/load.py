"""One entrance for every task, whatever it is written in.

Which format it is gets decided from names and syntax. A foreign file is executed in the oracle's
process only, through the inspector the caller hands in.
"""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernelwright import plugins
from kernelwright.candidates.text import read_text
from kernelwright.errors import TaskError
from kernelwright.records.task import Task
from kernelwright.tasks import suites
from kernelwright.tasks.foreign import MODEL, defined
from kernelwright.tasks.format import Format, Inputs, Inspector, Spec

KERNELS = (".cpp", ".cc", ".cxx", ".c++", ".cu")
"""Endings of files that can be kernels and nothing else."""


def load_task(
    spec: str | Path | Callable[..., Any],
    *,
    inspector: Inspector,
    inputs: Inputs | None = None,
) -> Task:
    """The task that ``spec`` names.

    Args:
        spec: a built-in name, a folder with ``task.toml``, a KernelBench file, ``file.py:name``,
            or a Python callable or ``nn.Module`` class that is defined in a file.
        inspector: executes foreign files elsewhere; the oracle's ``inspect``.
        inputs: for a callable: example arguments, or a function that returns them.

    Raises:
        TaskError: nothing has that name, or it cannot be read, or its reference fails.
        PrerequisiteError: the reference needs a package that is missing.
    """
    if isinstance(spec, str | Path):
        wanted = Spec(str(spec))
    elif callable(spec):
        wanted = Spec(getattr(spec, "__qualname__", repr(spec)), spec)
    else:
        raise TaskError(
            f"a task is named by a text, a path or a callable, not by a {type(spec).__name__}"
        )
    try:
        return _read(wanted, inspector, inputs)
    except (OSError, RuntimeError) as problem:  # a name that no file can have, or may not be seen
        why = getattr(problem, "strerror", None) or problem
        raise TaskError(f"{wanted.text[:200]!r} cannot be looked up: {why}") from problem


def _read(wanted: Spec, inspector: Inspector, inputs: Inputs | None) -> Task:
    for name, reader in plugins.working("formats", lambda name: _matching(name, wanted)):
        if reader is not None:
            with plugins.using("formats", name):
                task = reader.read(wanted, inspector, inputs)
            if not isinstance(task, Task):
                raise TaskError(f"format {name!r} returned a {type(task).__name__}, not a Task")
            return task
    raise _unknown(wanted)


def _no_model(spec: Spec) -> TaskError:
    """What a file lacks to be a task by itself."""
    try:
        names = defined(ast.parse(read_text(spec.path)))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        names = {}
    if isinstance(names.get(MODEL), ast.ClassDef):
        return TaskError(
            f"{spec.text} is no task: its class {MODEL} has no get_inputs() beside it",
            hint="add get_inputs(), which returns the arguments of forward as a list",
        )
    known = [
        name
        for name, node in names.items()
        if isinstance(node, ast.FunctionDef) and name not in ("get_inputs", "get_init_inputs")
    ]
    word = known[0] if len(known) == 1 else "NAME"
    listed = f" (NAME is one of {', '.join(known)})" if len(known) > 1 else ""
    return TaskError(
        f"{spec.text} is no task: it defines no class {MODEL} with get_inputs()",
        hint=f"name the function to make faster: {spec.path}:{word}{listed}",
    )


def _matching(name: str, wanted: Spec) -> Format | None:
    reader: Format = plugins.make("formats", name)
    return reader if reader.matches(wanted) else None


def _unknown(spec: Spec) -> TaskError:
    """Why no format took ``spec``, with the nearest thing that would work."""
    path = spec.path
    if path.suffix in KERNELS and not spec.name:
        return TaskError(
            f"{spec.text} is a kernel, not a task",
            hint="a task is a name of kernelwright tasks list, a folder with task.toml, or "
            "file.py:callable; optimize starts from a kernel with --start",
        )
    if path.is_dir():
        return TaskError(
            f"folder {spec.text} is no task: it holds no task.toml",
            hint="a task folder holds task.toml and reference.py",
        )
    if path.is_file():
        return _no_model(spec)
    if path.exists() and (spec.name or path.suffix):
        return TaskError(f"{path} is not a regular file", hint="a task is read from a plain file")
    if "/" in spec.text or spec.text.endswith((".py", ".toml")) or spec.name:
        return TaskError(f"there is no file {path}", hint="check the path")
    return TaskError(f"unknown task {spec.text!r}", hint=plugins.nearest(spec.text, suites.names()))
