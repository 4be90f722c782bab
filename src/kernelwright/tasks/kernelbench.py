"""The KernelBench format: one file with ``class Model``, ``get_inputs()``, ``get_init_inputs()``.

The file is recognised by its syntax and run by the oracle only.
"""

import ast

from kernelwright.errors import TaskError
from kernelwright.records.task import Task
from kernelwright.tasks.foreign import MODEL, build, defined, first_line, source_of, tree_of
from kernelwright.tasks.format import Inputs, Inspector, Spec
from kernelwright.tasks.identifier import identifier


class KernelBench:
    """Reads a KernelBench file; a module's tensors become arguments of the kernel."""

    def matches(self, spec: Spec) -> bool:
        """A Python file that defines ``class Model`` and ``get_inputs``."""
        if spec.function is not None or spec.name or not spec.text.endswith(".py"):
            return False
        if not spec.path.is_file():
            return False
        names = defined(tree_of(source_of(spec.path), spec.path))
        return isinstance(names.get(MODEL), ast.ClassDef) and "get_inputs" in names

    def read(self, spec: Spec, inspector: Inspector, inputs: Inputs | None) -> Task:
        """The task of a file: its stem is the entry, its shapes are the one workload.

        Raises:
            TaskError: the file fails when it is run.
            PrerequisiteError: torch is missing.
        """
        if inputs is not None:
            raise TaskError(
                f"{spec.path} draws its own inputs", hint="change its get_inputs(), or drop inputs="
            )
        path = spec.path.resolve()
        source = source_of(path)
        tree = tree_of(source, path)
        names = defined(tree)
        entry = identifier(path.stem, set())
        description = inspector(
            {
                "format": "kernelbench",
                "path": str(path),
                "source": source,
                "name": MODEL,
                "entry": entry,
            }
        )
        return build(
            description,
            name=path.stem,
            entry=entry,
            summary=first_line(tree) or first_line(names[MODEL]),
            reference={
                "entry": MODEL,
                "source": source,
                "path": str(path),
                "fused": "fused" in names,
            },
        )
