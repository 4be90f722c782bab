"""Which parts of third parties do not work, languages aside: those are asked with the machine."""

from collections.abc import Iterator

from kernelwright import plugins
from kernelwright.errors import UserError
from kernelwright.verbs.machine import Finding


def findings() -> Iterator[Finding]:
    """One of each part that does not work; imports them all."""
    for kind, name in plugins.foreign():
        if kind != "languages":
            try:
                plugins.make(kind, name) if kind == "formats" else plugins.load(kind, name)
            except UserError as problem:
                yield Finding(
                    name=f"{kind.removesuffix('s')} {name}",
                    state="missing",
                    detail=f"{problem.message}; only for who asks for it",
                    mend=problem.hint,
                    optional=True,
                )
