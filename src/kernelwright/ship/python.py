"""A Python candidate with its numbers fixed: what was judged, and the values it was judged with."""

import ast

from kernelwright.records.candidate import Candidate
from kernelwright.ship.header import untuned, without_header
from kernelwright.tasks.foreign import defined

FUNCTION = """

import functools as _functools

{entry} = _functools.partial({entry}, {values})
"""
MODEL = """

class ModelNew(ModelNew):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, {values}, **named)
"""


def fixed(candidate: Candidate, entry: str) -> str:
    """The candidate's file, its tunables bound, its header with nothing left to tune.

    Args:
        candidate: in Python.
        entry: the task's.
    """
    lines = [*untuned(candidate, "#"), without_header(candidate.source, "#")]
    text = "\n".join(lines).rstrip() + "\n"
    if not candidate.tunables:
        return text
    values = ", ".join(f"{name}={value!r}" for name, value in candidate.tunables.items())
    form = FUNCTION if is_function(candidate, entry) else MODEL
    return text + form.format(entry=entry, values=values)


def is_function(candidate: Candidate, entry: str) -> bool:
    """Whether it is a function of that name that was judged, and not a model."""
    tree = ast.parse(candidate.source)
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If | ast.Try | ast.With)]
    bodies = [tree, *(ast.Module(body=node.body, type_ignores=[]) for node in blocks)]
    return any(entry in defined(body) for body in bodies)
