"""The forms of a Python candidate: a function that writes its outputs, or KernelBench's model."""

import ast

from kernelwright.records.task import Task
from kernelwright.tasks.foreign import defined

TUNABLES = "Tunables of the header arrive as keyword arguments"


def python_form(task: Task, models: bool, notes: list[str], names: list[str]) -> str:
    """The declarations a Python candidate must match.

    Args:
        task: what the candidate computes.
        models: whether a candidate may be a model where the task is one.
        notes: what a candidate may rely on, one line each.
        names: of the function's arguments, in order.
    """
    lines = [f"# {line}" for line in (*notes, TUNABLES)]
    lines.append(f"def {task.entry}({', '.join(names)}): ...")
    if models and task.reference.kind == "kernelbench":
        lines += ["", "# or, returning the outputs:", *_model(task.reference.source)]
    return "\n".join(lines)


def _model(source: str) -> list[str]:
    """The model's methods as the reference declares them."""
    return [
        "class ModelNew(torch.nn.Module):",
        f"    def __init__({_arguments(source, '__init__')}): ...",
        f"    def forward({_arguments(source, 'forward')}): ...",
    ]


def _arguments(source: str, method: str) -> str:
    """The arguments of one of the reference's methods; open where it inherits them."""
    found = defined(ast.parse(source)).get("Model")
    for node in found.body if isinstance(found, ast.ClassDef) else ():
        if isinstance(node, ast.FunctionDef) and node.name == method:
            plain = node.args
            for one in (*plain.posonlyargs, *plain.args, *plain.kwonlyargs):
                one.annotation = None
            return ast.unparse(plain)
    return "self" if method == "__init__" else "self, *inputs"
