"""What the foreign formats share: a Python file as it is, and a Task from the oracle's description.

Nothing here executes the file. Sizes are plain numbers: a foreign task has no axes unless the
user frees some, so a kernel written for the file's shapes is honest.
"""

import ast
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kernelwright.candidates.text import read_text
from kernelwright.errors import TaskError
from kernelwright.records.task import Task
from kernelwright.records.validation import sentences

MODEL = "Model"
"""Name of the class of a file that is a task by itself."""


def source_of(path: Path | Traversable) -> str:
    """The text of a file of the user's.

    Raises:
        TaskError: it cannot be read, or is too long.
    """
    try:
        return read_text(path)
    except (OSError, UnicodeDecodeError) as problem:
        raise unreadable(path, problem) from problem


def unreadable(path: Path | Traversable, problem: Exception) -> TaskError:
    """What to say of a file that cannot be read."""
    return TaskError(f"cannot read {path}: {getattr(problem, 'strerror', None) or problem}")


def tree_of(source: str, path: Path | Traversable) -> ast.Module:
    """The syntax tree of ``source``.

    Raises:
        TaskError: it is not Python, with file and line.
    """
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        line = getattr(problem, "lineno", None) or 1
        what = getattr(problem, "msg", None) or str(problem)
        raise TaskError(f"{path}:{line}: not Python: {what}") from problem


def defined(tree: ast.Module) -> dict[str, ast.stmt]:
    """The names a module defines at its top level, with the statement that does."""
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
    return found


def first_line(node: ast.AST | None) -> str:
    """The first line of a docstring, or an empty string."""
    if not isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
        return ""
    return (ast.get_docstring(node) or "").partition("\n")[0].rstrip(".")


def build(
    description: dict[str, Any], *, name: str, entry: str, summary: str, reference: dict[str, Any]
) -> Task:
    """A Task from what the oracle found out by running the file.

    Args:
        description: ``kind``, ``inputs``, ``outputs``, ``scalars``, each with name, shape, dtype.
        name: of the task.
        entry: of the kernel.
        summary: one line.
        reference: ``entry``, ``source``, ``path``, ``fused`` of the reference.

    Raises:
        TaskError: the description makes no valid task, for instance no tensor is returned.
    """
    # One workload a device: the file's own shapes serve as smoke test too.
    workloads = [{"name": "file", "device": "cpu", "role": "main"}]
    workloads.append({"name": "file-gpu", "device": "gpu", "role": "main"})
    try:
        return Task.model_validate(
            {
                "name": name,
                "entry": entry,
                "summary": summary,
                "inputs": [
                    {
                        "name": item["name"],
                        "shape": item["shape"],
                        "dtype": item["dtype"],
                        "values": item.get("values", {"kind": "given"}),
                    }
                    for item in description["inputs"]
                ],
                "outputs": description["outputs"],
                "scalars": description["scalars"],
                "workloads": workloads,
                "reference": {"kind": description["kind"], **reference},
            }
        )
    except (KeyError, TypeError, ValueError) as problem:
        what = str(problem)
        if isinstance(problem, ValidationError):
            what = "; ".join(sentences(problem, Task, "task"))
        raise TaskError(f"{reference['path']} makes no valid task: {what}") from problem
