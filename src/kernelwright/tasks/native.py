"""The native format: a folder with ``task.toml``, ``reference.py`` and perhaps ``baseline.cpp``.

The reference is read as text and looked at by :mod:`ast`; it is never executed here.
"""

import ast
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kernelwright import toml
from kernelwright.candidates.text import read_text
from kernelwright.errors import TaskError
from kernelwright.plugins import nearest
from kernelwright.records.task import Task
from kernelwright.records.validation import sentences
from kernelwright.tasks import suites
from kernelwright.tasks.foreign import source_of, tree_of, unreadable
from kernelwright.tasks.format import Inputs, Inspector, Spec

FIELDS = "every field is described in docs/reference/task-format.md"


class Native:
    """Reads a built-in name or a task folder."""

    def matches(self, spec: Spec) -> bool:
        """A built-in name, a folder with ``task.toml``, or that file itself."""
        if spec.function is not None:
            return False
        return spec.text in suites.names() or (_folder(spec) / "task.toml").exists()

    def read(self, spec: Spec, inspector: Inspector, inputs: Inputs | None) -> Task:
        """The task of a folder; nothing is executed, so the inspector is not asked.

        Raises:
            TaskError: a file is missing or wrong, with the place.
        """
        if spec.text in suites.names():
            return read_folder(suites.folder(spec.text), spec.text)
        folder = _folder(spec)
        return read_folder(folder, folder.resolve().name)


def read_folder(folder: Traversable, name: str) -> Task:
    """The task in ``folder``.

    Args:
        folder: holds ``task.toml`` and ``reference.py``.
        name: the task's name where ``task.toml`` gives none.

    Raises:
        TaskError: a file is missing or wrong, with the place.
    """
    data = _toml(folder / "task.toml")
    if not data:
        raise TaskError(f"{folder / 'task.toml'} is empty", hint=FIELDS)
    data.setdefault("name", name)
    data.setdefault("entry", data["name"])
    data["reference"] = _reference(folder / "reference.py", data)
    baseline = folder / "baseline.cpp"
    data["baseline"] = source_of(baseline) if _is_there(baseline) else ""
    try:
        task = Task.model_validate(data)
    except ValidationError as problem:
        raise TaskError(
            "\n  ".join(
                (f"{folder / 'task.toml'} is no valid task:", *sentences(problem, Task, "task"))
            ),
            hint=FIELDS,
        ) from problem
    _check_roles(task, folder / "task.toml")
    return task


def _check_roles(task: Task, path: Traversable) -> None:
    """Each device needs the size that numbers are tuned for, named as such.

    Raises:
        TaskError: a device has workloads and no main one.
    """
    for device in dict.fromkeys(one.device for one in task.workloads):
        here = [one for one in task.workloads if one.device == device]
        if not any(one.role == "main" for one in here):
            raise TaskError(
                f"{path}: no workload for the {device} has the role main",
                hint='the size that numbers are tuned for has role = "main", the smallest "smoke"',
            )


def _is_there(file: Traversable) -> bool:
    """Whatever it is: what cannot be read is told of, not passed over."""
    return file.exists() if isinstance(file, Path) else file.is_file()


def _folder(spec: Spec) -> Path:
    path = Path(spec.text)
    return path.parent if path.name == "task.toml" else path


def _toml(path: Traversable) -> dict[str, Any]:
    try:
        return toml.loads(read_text(path))
    except (OSError, UnicodeDecodeError) as problem:
        raise unreadable(path, problem) from problem
    except toml.TomlError as problem:
        place = f"{path}:{problem.line}:{problem.column}" if problem.line else str(path)
        what = problem.what[:1].lower() + problem.what[1:]
        raise TaskError(f"{place}: not TOML: {what}", hint=problem.hint) from problem


def _reference(path: Traversable, data: dict[str, Any]) -> dict[str, Any]:
    """The record of ``reference.py``; a table ``[reference]`` may name ``kind`` and ``entry``."""
    given = data.get("reference", {})
    if not isinstance(given, dict) or set(given) - {"kind", "entry"}:
        raise TaskError("[reference] in task.toml may hold 'kind' and 'entry' only")
    entry = str(given.get("entry", data["entry"]))
    if not _is_there(path):
        raise TaskError(
            f"there is no {path}", hint="a task folder holds task.toml and reference.py"
        )
    source = source_of(path)
    tree = tree_of(source, path)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if entry not in functions:
        raise TaskError(
            f"{path} defines no function {entry!r}",
            hint=nearest(entry, tuple(functions), f"write it: def {entry}(xp, ...)"),
        )
    return {
        "kind": given.get("kind", _kind(functions[entry], tree)),
        "entry": entry,
        "source": source,
        "path": str(path),
        "fused": "fused" in functions,
    }


def _kind(function: ast.FunctionDef, tree: ast.Module) -> str:
    """``array`` where the first argument is ``xp``, else by what the file imports."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    if arguments and arguments[0].arg == "xp":
        return "array"
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module.partition(".")[0])
    return "torch" if "torch" in imported else "numpy"
