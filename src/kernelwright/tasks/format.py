"""What every task format offers, and what reading a foreign file means.

A format turns a specification into a :class:`~kernelwright.records.task.Task`. It may look at
files, by :mod:`ast` where they are Python; it never executes them. What only execution can tell
(shapes, parameters, outputs) is asked of the inspector, which is the oracle.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Inspector = Callable[[dict[str, Any]], dict[str, Any]]
"""The oracle's ``inspect``: a request in, a description out."""
Inputs = Callable[[], Sequence[Any]] | Sequence[Any]
"""Example arguments, or what returns them."""


@dataclass(frozen=True)
class Spec:
    """What the caller named: a text, and the object itself where one was handed in."""

    text: str
    function: Callable[..., Any] | None = None

    @property
    def path(self) -> Path:
        """The file or folder named, without a ``:callable`` at its end."""
        return Path(self.text[: self.text.rindex(":")] if self.name else self.text)

    @property
    def name(self) -> str:
        """The callable named after the file, or an empty string."""
        head, colon, tail = self.text.rpartition(":")
        return tail if colon and head.endswith(".py") else ""


class Format(Protocol):
    """One way in which a task can be written down."""

    def matches(self, spec: Spec) -> bool:
        """Whether this format reads ``spec``; decided without executing anything."""

    def read(self, spec: Spec, inspector: Inspector, inputs: Inputs | None) -> Any:
        """The task that ``spec`` describes.

        Raises:
            TaskError: it cannot be read, or its reference does not work.
            PrerequisiteError: the reference needs a package that is missing.
        """
