"""The built-in suites: which tasks they hold and where those lie.

Suites are data shipped with the package. Nothing is read beyond the listing; files of a user's
own set are not suites.
"""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from kernelwright.errors import TaskError
from kernelwright.plugins import nearest


@cache
def suites() -> dict[str, tuple[str, ...]]:
    """The tasks of every built-in suite, by suite."""
    found = {}
    for suite in _root().iterdir():
        if suite.is_dir():
            tasks = (item.name for item in suite.iterdir() if (item / "task.toml").is_file())
            found[suite.name] = tuple(sorted(tasks))
    return {name: found[name] for name in sorted(found) if found[name]}


def names() -> tuple[str, ...]:
    """The names of all built-in tasks."""
    return tuple(name for tasks in suites().values() for name in tasks)


def folder(name: str) -> Traversable:
    """Where the built-in task ``name`` lies.

    Raises:
        TaskError: there is no such task.
    """
    for suite, tasks in suites().items():
        if name in tasks:
            return _root() / suite / name
    raise TaskError(f"unknown task {name!r}", hint=nearest(name, names()))


def _root() -> Traversable:
    return files("kernelwright") / "suites"
