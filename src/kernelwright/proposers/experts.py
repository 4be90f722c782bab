"""Expert kernels that ship with the package: every structure once, at its default numbers.

Sources are files ``experts/<operation>/<language>/<strategy>.*``, read as text. An expert applies
when the task's operation has its name; whether it is right for this task is for the judge to say.
Refuses to choose numbers: that is the tuner's work.
"""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.candidates.header import parse
from kernelwright.candidates.notation import notation
from kernelwright.candidates.tunables import space
from kernelwright.proposers.base import Context
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation


class Experts:
    """Proposes each expert of the task's operation, in the order of their names."""

    coarse = True

    def __init__(self, context: Context) -> None:
        self._remaining = defaults(context)

    def ask(self, parents: Sequence[Candidate]) -> Candidate | None:
        """The next structure, or None when every one was proposed."""
        return next(self._remaining, None)

    def tell(self, candidate: Candidate, evaluation: Evaluation) -> None:
        """Nothing: the list is fixed."""


def defaults(context: Context, root: Traversable | None = None) -> Iterator[Candidate]:
    """Every applicable expert whose space has a valid point, at the first such point.

    Args:
        context: whose task and languages count.
        root: the folder of experts; default the package's own.
    """
    for language, name, source in _sources(context, root or files("kernelwright") / "experts"):
        numbers = space(parse(source, language), context.values)
        point = next(numbers.points(), None)
        if point is None:
            continue
        yield make_candidate(
            source,
            language,
            point,
            author="experts",
            origin=f"experts/{context.task.op}/{language}/{name}",
        )


def _sources(context: Context, root: Traversable) -> Iterator[tuple[str, str, str]]:
    if not context.task.op.isidentifier():
        return
    for language in context.languages:
        endings, folder = notation(language).endings, root / context.task.op / language
        if not folder.is_dir():
            continue
        for file in sorted(folder.iterdir(), key=lambda file: file.name):
            if file.is_file() and file.name.endswith(endings):
                yield language, file.name, file.read_text(encoding="utf-8")
