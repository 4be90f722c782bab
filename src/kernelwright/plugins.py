"""Names of exchangeable parts, and how a name becomes the part.

=========  ====================================================  ===============================
kind       what a name stands for                                its protocol
=========  ====================================================  ===============================
languages  a class: ``(compiler, cache)``                        ``languages.base.Language``
proposers  a class: ``(context)``                                ``proposers.base.Proposer``
parents    a class: ``(seed)``                                   ``search.parents.base.Parents``
executors  a class: ``(threads=, sandbox=, compiler=, cache=)``  ``executors.base.Executor``
exporters  a function of a run's summary                         ``testing.exporters.Export``
formats    a class without arguments                             ``tasks.format.Format``
=========  ====================================================  ===============================

A part is imported when it is asked for, never before, so that a missing framework breaks only
what needs it. Third parties add parts by an entry point in the group ``kernelwright.<kind>``; a
built-in name cannot be replaced by one. This module knows names only, not what a part can do.
"""

import difflib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from kernelwright.errors import PrerequisiteError, UsageError
from kernelwright.extras import how_to_add

Kind = Literal["languages", "proposers", "parents", "executors", "exporters", "formats"]

BUILT_IN: Mapping[Kind, Mapping[str, str]] = {
    "languages": {
        "cpp": "kernelwright.languages.cpp:Cpp",
        "torch": "kernelwright.languages.torch:Torch",
    },
    "proposers": {
        "experts": "kernelwright.proposers.experts:Experts",
        "tune": "kernelwright.proposers.tune:Tune",
    },
    "parents": {"greedy": "kernelwright.search.parents.greedy:Greedy"},
    "executors": {"local": "kernelwright.executors.local:LocalExecutor"},
    "exporters": {
        "file": "kernelwright.ship.file:export",
        "kernelbench": "kernelwright.ship.kernelbench:export",
    },
    "formats": {
        "native": "kernelwright.tasks.native:Native",
        "kernelbench": "kernelwright.tasks.kernelbench:KernelBench",
        "python": "kernelwright.tasks.callable:PythonCallable",
    },
}


def names(kind: Kind) -> tuple[str, ...]:
    """Every known name of a kind, built-in ones first; imports nothing."""
    known = BUILT_IN[kind]
    return (*known, *(name for name in sorted(_foreign(kind)) if name not in known))


def load(kind: Kind, name: str) -> Any:
    """The part of that name.

    Raises:
        UsageError: there is no such name.
        PrerequisiteError: the part needs something that is not installed.
    """
    try:
        if name in BUILT_IN[kind]:
            module, _, attribute = BUILT_IN[kind][name].partition(":")
            return getattr(import_module(module), attribute)
        if name in _foreign(kind):
            return _foreign(kind)[name].load()
    except ModuleNotFoundError as problem:
        missing = (problem.name or "").partition(".")[0]
        if missing == "kernelwright" or not missing:
            raise
        raise PrerequisiteError(
            f"{kind.removesuffix('s')} {name!r} needs the package {missing!r}, which is missing",
            hint=how_to_add(missing),
        ) from problem
    raise UsageError(f"unknown {kind.removesuffix('s')} {name!r}", hint=nearest(name, names(kind)))


def nearest(wrong: str, known: tuple[str, ...] | list[str]) -> str:
    """A hint that names what was probably meant, or all there is when nothing is close."""
    close = difflib.get_close_matches(wrong, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(known)}" if known else "none are installed"


@cache
def _foreign(kind: Kind) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"kernelwright.{kind}")}
