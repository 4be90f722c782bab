"""How a language is written: what its files are called, how they comment, what its types are.

Whoever reads or writes a candidate's text asks here; the answer stands in the language's own
class, and nowhere else. Refuses to know how anything is built.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kernelwright import plugins
from kernelwright.errors import UsageError
from kernelwright.records.task import Device


@dataclass(frozen=True)
class Notation:
    """The text of one language."""

    endings: tuple[str, ...]
    """Of its files, with the dot; the first is the one that we write."""
    comment: str
    """What begins a comment that ends with its line."""
    types: Mapping[str, str] = field(default_factory=dict)
    """For kernels with C's calling convention: the name of each element type. Empty: a kernel is
    a Python function."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """How an element type that needs explaining is to be read, after its name."""
    type_macro: str = ""
    """Format of the macro that says what a type variable of the task is, as ``DTYPE_{}``; empty:
    none, and a source is for the types of its prototype."""
    last: str = ""
    """Declaration of an argument behind all others, for example of a stream."""
    device: Device = "cpu"
    """Where its kernels usually run: a prototype shows the types of that device's workload."""
    models: bool = False
    """Whether a candidate may be a module of the framework where the task is one."""
    marker: str = ""
    """Pattern that is found in its files only; needed where another language has its ending."""

    @property
    def like_c(self) -> bool:
        """Whether it has C's tokens, macros and calling convention."""
        return bool(self.types)

    def macros(self, types: Mapping[str, str]) -> dict[str, str]:
        """The macro of each type variable of a task, and what it stands for on a workload."""
        fitting = [name for name in types if name.isascii() and name.isidentifier()]
        written = fitting if self.type_macro else []
        return {self.type_macro.format(name): self.types[types[name]] for name in written}

    def in_words(self, dtypes: Iterable[str]) -> str:
        """What each element type of a task is called here; repeated ones are said once."""
        return "; ".join(
            f"{dtype} is {self.types.get(dtype, f'torch.{dtype}')}{self.remarks.get(dtype, '')}"
            for dtype in dict.fromkeys(dtypes)
        )

    def header_lines(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """The lines that open and close a candidate's header."""
        sign = re.escape(self.comment)
        return re.compile(rf"\s*{sign}\s*///\s*kernelwright\s*"), re.compile(rf"\s*{sign}\s*///\s*")


def notation(language: str) -> Notation:
    """How that language is written.

    Raises:
        UsageError: there is no such language; names those there are.
    """
    part = plugins.load("languages", language)
    with plugins.using("languages", language):
        found: Notation = part.notation
    return found


def language_of(path: Path, source: str) -> str:
    """The language of a file: by its ending, and by its text where several share the ending.

    Raises:
        UsageError: its ending names no language.
    """
    known: dict[str, Notation] = dict(plugins.working("languages", notation))
    fitting = [name for name, written in known.items() if path.suffix in written.endings]
    if not fitting:
        endings = dict.fromkeys(ending for one in known.values() for ending in one.endings)
        raise UsageError(
            f"{path}: its ending names no language", hint=f"known: {', '.join(endings)}"
        )
    return next(_by_text(fitting, known, source), fitting[0])


def _by_text(fitting: list[str], known: Mapping[str, Notation], source: str) -> Iterator[str]:
    """Languages whose marker is found, then those that have none."""
    marked = [name for name in fitting if known[name].marker]
    yield from (name for name in marked if re.search(known[name].marker, source, re.MULTILINE))
    yield from (name for name in fitting if name not in marked)
