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
built-in name cannot be replaced by one. One that does not work stops who asks for it by name, and
is left out with a warning where all of a kind are looked through. This module knows names only,
not what a part can do.
"""

import difflib
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, distributions, entry_points
from typing import Any, Literal, get_args

from kernelwright.errors import KernelwrightError, PrerequisiteError, UsageError
from kernelwright.extras import how_to_add

Kind = Literal["languages", "proposers", "parents", "executors", "exporters", "formats"]

_log = logging.getLogger(__name__)

BUILT_IN: Mapping[Kind, Mapping[str, str]] = {
    "languages": {
        "cpp": "kernelwright.languages.cpp:Cpp",
        "cuda": "kernelwright.languages.cuda:Cuda",
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
        PrerequisiteError: the part needs something that is not installed, or is a third party's
            and does not load.
    """
    with using(kind, name):
        return _loaded(kind, name)


def make(kind: Kind, name: str, *arguments: Any, **named: Any) -> Any:
    """What the part of that name gives for these arguments.

    Raises:
        UsageError: there is no such name.
        PrerequisiteError: as :func:`load`, or it is a third party's and fails.
    """
    part = load(kind, name)
    with using(kind, name):
        return part(*arguments, **named)


def working(kind: Kind, seen: Callable[[str], Any]) -> Iterator[tuple[str, Any]]:
    """Each part of a kind, by name, and what ``seen`` finds of it; imports it then.

    A part of a third party that fails is left out, with one warning in the life of the process.
    """
    for name in names(kind):
        try:
            with using(kind, name):
                found = seen(name)
        except PrerequisiteError as problem:
            if name in BUILT_IN[kind]:
                raise
            _warn(f"left out: {problem.message}")
        else:
            yield name, found


def foreign() -> Iterator[tuple[Kind, str]]:
    """Every part that a third party added; imports nothing."""
    for kind in get_args(Kind):
        yield from ((kind, name) for name in names(kind) if name not in BUILT_IN[kind])


@contextmanager
def using(kind: Kind, name: str) -> Iterator[None]:
    """Whatever a third party's part raises inside is a fault of that party, not of ours.

    Raises:
        PrerequisiteError: it failed; says who made it, and what to do.
    """
    try:
        yield
    except KernelwrightError:
        raise
    except (Exception, SystemExit) as problem:
        if name in BUILT_IN[kind] or name not in _foreign(kind):
            raise
        raise _broken(_foreign(kind)[name], problem) from problem


def _loaded(kind: Kind, name: str) -> Any:
    singular = kind.removesuffix("s")
    if name in BUILT_IN[kind]:
        module, _, attribute = BUILT_IN[kind][name].partition(":")
        try:
            return getattr(import_module(module), attribute)
        except ModuleNotFoundError as problem:
            if not (missing := _missing(problem)):
                raise
            raise PrerequisiteError(
                f"{singular} {name!r} needs the package {missing!r}, which is missing",
                hint=how_to_add(missing),
            ) from problem
    if name in _foreign(kind):
        return _foreign(kind)[name].load()
    raise UsageError(f"unknown {singular} {name!r}", hint=nearest(name, names(kind)))


def _missing(problem: BaseException) -> str:
    """The package of somebody else's that an import lacked, or an empty text."""
    if not isinstance(problem, ModuleNotFoundError):
        return ""
    missing = (problem.name or "").partition(".")[0]
    return "" if missing == "kernelwright" else missing


def nearest(
    wrong: str, known: tuple[str, ...] | list[str], none: str = "none are installed"
) -> str:
    """A hint that names what was probably meant, or all there is when nothing is close.

    Args:
        wrong: what was asked for.
        known: what there is.
        none: what is said where there is nothing.
    """
    close = difflib.get_close_matches(wrong, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(known)}" if known else none


def _broken(point: EntryPoint, problem: BaseException) -> PrerequisiteError:
    what = f"{type(problem).__name__}: {problem}".removesuffix(": ")
    kind, package = point.group.rpartition(".")[2].removesuffix("s"), _package(point)
    missing = _missing(problem)
    return PrerequisiteError(
        f"{kind} {point.name!r} ({point.group}) of the package {package!r} fails: {what}",
        hint=f"mend it, or remove it: pip uninstall {package}"
        + (f"\n{how_to_add(missing)}" if missing else ""),
    )


def _package(point: EntryPoint) -> str:
    try:
        return str(point.dist.name) if point.dist else "unknown"
    except Exception:  # noqa: BLE001 (what is installed may lack its description)
        return "unknown"


@cache
def _warn(line: str) -> None:
    _log.warning("%s", line)


@cache
def _foreign(kind: Kind) -> dict[str, EntryPoint]:
    return {point.name: point for point in _points(f"kernelwright.{kind}")}


def _points(group: str) -> list[EntryPoint]:
    try:
        return list(entry_points(group=group))
    except Exception:  # noqa: BLE001 (one package's list cannot be read: the others' can)
        return list(_readable(group))


def _readable(group: str) -> Iterator[EntryPoint]:
    for package in distributions():
        try:
            yield from package.entry_points.select(group=group)
        except Exception as problem:  # noqa: BLE001 (as above)
            _warn(f"the entry points of a package cannot be read: {package}: {problem}")
