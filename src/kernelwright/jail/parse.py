"""Say what a Python candidate defines, without running it: its text is hostile to a parser too.

Started as ``python -I -S parse.py JOB SPEC``; ``JOB`` is JSON with the ``file`` in the working
folder, the ``entry`` and the ``model`` that are looked for. Prints one JSON object.
"""

# ruff: noqa: PTH100, PTH120, PTH123

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import confine  # type: ignore[import-not-found]  # noqa: E402 - found beside this file

MOST_NAMES, LONGEST_NAME = 100, 100
MOST_ARGUMENTS = 1000
_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While)


def described(text: bytes, entry: str, model: str) -> dict[str, Any]:
    """What ``text`` defines at its top level.

    Returns:
        ``error`` and ``line`` if it is no Python; else ``digest`` (of the syntax tree: comments
        and formatting do not count), ``entry`` and ``model`` (None where they are missing), and
        the names that are ``defined``.
    """
    try:
        tree = ast.parse(text)
        compile(tree, "candidate.py", "exec", dont_inherit=True)
    except SyntaxError as problem:
        return {"error": problem.msg or "invalid syntax", "line": problem.lineno or 1}
    except (ValueError, RecursionError, MemoryError) as problem:
        return {"error": str(problem) or "nested too deeply", "line": 1}
    defined = dict(_definitions(tree.body))
    return {
        "digest": hashlib.sha256(ast.dump(tree).encode(errors="surrogatepass")).hexdigest(),
        "entry": _function(defined[entry]) if entry in defined else None,
        "model": _class(defined[model]) if model in defined else None,
        "defined": [name[:LONGEST_NAME] for name in list(defined)[:MOST_NAMES]],
    }


def _definitions(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Names with the last statement that gives them a value, in the order of the text."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((one.asname or one.name.partition(".")[0], node) for one in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (one for target in targets for one in ast.walk(target))
            yield from ((one.id, node) for one in names if isinstance(one, ast.Name))
        elif isinstance(node, _BLOCKS):
            for part in ("body", "orelse", "finalbody"):
                yield from _definitions(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                yield from _definitions(handler.body)


def _function(node: ast.stmt) -> dict[str, Any]:
    """How a name can be called; ``kind`` is ``value`` where the text does not tell."""
    if isinstance(node, ast.ClassDef):
        return {"kind": "class", "line": node.lineno}
    if isinstance(node, ast.AsyncFunctionDef):
        return {"kind": "async", "line": node.lineno}
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return {"kind": "value", "line": node.lineno}
    spec = node.args
    named = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    return {
        "kind": "function",
        "line": node.lineno,
        "positional": _names([one.arg for one in (*spec.posonlyargs, *spec.args)]),
        "positional_only": len(spec.posonlyargs),
        "defaults": len(spec.defaults),
        "more": spec.vararg is not None,
        "keywords": _names([one.arg for one in spec.kwonlyargs]),
        "required": _names([one.arg for one, default in named if default is None]),
        "any_keyword": spec.kwarg is not None,
    }


def _names(found: list[str]) -> list[str]:
    return [name[:LONGEST_NAME] for name in found[:MOST_ARGUMENTS]]


def _class(node: ast.stmt) -> dict[str, Any]:
    """The methods of a class that matter; ``whole`` if nothing can be inherited from elsewhere."""
    if not isinstance(node, ast.ClassDef):
        return {"kind": "value", "line": node.lineno}
    methods = dict(_definitions(node.body))
    bases = [getattr(base, "attr", getattr(base, "id", "")) for base in node.bases]
    return {
        "kind": "class",
        "line": node.lineno,
        "whole": all(base == "Module" for base in bases),
        "init": _function(methods["__init__"]) if "__init__" in methods else None,
        "forward": _function(methods["forward"]) if "forward" in methods else None,
    }


def main() -> None:
    """Confine this process, then parse."""
    job = json.loads(sys.argv[1])
    confine.apply(json.loads(sys.argv[2]))
    with open(job["file"], "rb") as file:
        found = described(file.read(), job["entry"], job["model"])
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
