"""Whether a Python file offers what a task asks for, told from its syntax alone."""

import ast
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

MODEL = "ModelNew"


@dataclass(frozen=True)
class Wanted:
    """What a prototype asks for."""

    entry: tuple[str, ...] | None
    """Arguments of the function in order; None: any."""
    forward: tuple[str, ...] | None
    """Arguments of the model's forward; None where the task takes no model."""
    any_forward: bool = False
    """Whether its forward takes what the reference's takes, which is not known here."""

    @classmethod
    def of(cls, prototype: str) -> "Wanted":
        """What a prototype of :func:`kernelwright.tasks.contract.prototype` asks for."""
        entry = forward = None
        free = False
        for node in ast.parse(prototype).body:
            if isinstance(node, ast.FunctionDef):
                entry = tuple(one.arg for one in node.args.args)
            elif isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef) and method.name == "forward":
                        forward = tuple(one.arg for one in method.args.args[1:])
                        free = method.args.vararg is not None
        return cls(entry, forward, free)


@dataclass(frozen=True)
class Misfit:
    """Why a file does not fit."""

    reason: str
    hint: str = ""


def misfit(facts: dict[str, Any], entry: str, wanted: Wanted, tunables: set[str]) -> Misfit | None:
    """The first thing that is missing or called otherwise, or None.

    Args:
        facts: from ``jail/parse.py``.
        entry: the function's name.
        wanted: what the prototype asks for.
        tunables: names that arrive as keyword arguments.
    """
    found, model = facts["entry"], facts["model"]
    if found is not None:
        return _function(found, entry, wanted.entry, tunables)
    if model is not None and wanted.forward is not None:
        return _model(model, wanted, tunables)
    if model is not None:
        hint = f"define {entry}(...); {MODEL} is for tasks in KernelBench's format"
        return Misfit(f"the file defines no {entry!r}", hint)
    close = get_close_matches(entry, facts["defined"], n=1)
    hint = (
        f"it defines {close[0]!r}: rename that to {entry!r}"
        if close
        else f"define it: def {entry}(...)"
    )
    also = f" and no {MODEL}" if wanted.forward is not None else ""
    return Misfit(f"the file defines no {entry!r}{also}", hint)


def _model(model: dict[str, Any], wanted: Wanted, tunables: set[str]) -> Misfit | None:
    forward, init = model.get("forward"), model.get("init")
    if model["kind"] != "class":
        return None  # made by a call: only running it can tell
    if forward is None and model["whole"]:
        return Misfit(f"{MODEL} has no forward", "def forward(self, ...)")
    if forward is not None and not wanted.any_forward:
        expected = ("self", *(wanted.forward or ()))
        if found := _function(forward, f"{MODEL}.forward", expected, set(), ordered=False):
            return found
    if tunables and (init is None or _unknown(init, tunables)):
        names = ", ".join(sorted(_unknown(init, tunables) if init else tunables))
        return Misfit(f"{MODEL}.__init__ does not take {names}", "tunables arrive by keyword")
    return None


def _function(
    found: dict[str, Any],
    name: str,
    wanted: tuple[str, ...] | None,
    tunables: set[str],
    *,
    ordered: bool = True,
) -> Misfit | None:
    where = f"line {found['line']}: {name}"
    if found["kind"] == "value":
        return None  # made by a call or a decorator: only running it can tell
    if found["kind"] != "function":
        hint = "write a plain def" if found["kind"] == "async" else f"define a function {name}"
        return Misfit(f"{where} is {_KINDS[found['kind']]}, not a function", hint)
    if wanted is None:
        return None
    words = f"{name}({', '.join(wanted)})"
    own = [one for one in found["positional"] if one not in tunables]
    least = len(own) - min(found["defaults"], len(own))
    if len(wanted) < least or (len(wanted) > len(own) and not found["more"]):
        return Misfit(f"{where} takes {_count(len(own))}, not {len(wanted)}", words)
    if ordered and own != list(wanted) and sorted(own) == sorted(wanted):
        return Misfit(f"{where} has its arguments in another order", words)
    if lacking := _unknown(found, tunables):
        hint = f"add: *, {', '.join(sorted(lacking))}"
        return Misfit(f"{where} does not take the tunables {', '.join(sorted(lacking))}", hint)
    if extra := sorted(set(found["required"]) - tunables):
        hint = "declare it as tune.NAME in the header, or give it a default"
        return Misfit(f"{where} wants a value for {', '.join(extra)}, which nobody gives", hint)
    return None


_KINDS = {"async": "async", "class": "a class"}


def _unknown(found: dict[str, Any], tunables: set[str]) -> set[str]:
    """Tunables that a call by keyword would refuse."""
    if found["kind"] != "function" or found["any_keyword"]:
        return set()
    by_name = found["positional"][found["positional_only"] :]
    return tunables - {*by_name, *found["keywords"]}


def _count(number: int) -> str:
    return "1 argument" if number == 1 else f"{number} arguments"
