"""Put a run's winner where it is needed.

--as file: one source file with its numbers fixed and its evidence on top; it is a candidate
again, so evaluate can judge it. --as kernelbench: a Python file with class ModelNew for a task in
KernelBench format. RUN is an id, the beginning of one, or "latest".
"""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from kernelwright import plugins
from kernelwright.errors import UsageError
from kernelwright.search.summary import summarise
from kernelwright.verbs import base, setup


class Request(base.Request):
    """Which winner, in which form, to which place."""

    run: Annotated[str, base.Positional()] = Field(description="id, its beginning, or latest")
    as_: str = Field("file", description="form: file or kernelbench")
    to: Path | None = Field(None, description="file or folder to write; default: this folder")
    force: bool = Field(False, description="replace a file that is there")
    store: str | None = Field(None, description="file or database URL that keeps every run")


class Answer(base.Answer):
    """What was written."""

    run: str
    candidate: str
    form: str
    files: tuple[str, ...]

    def text(self) -> str:
        """One path a line."""
        return "\n".join(self.files)


def run(request: Request, *, observer: object = None) -> Answer:
    """Export and write."""
    plugins.load("exporters", request.as_)  # before anything is read
    with setup.store(request.settings(), writable=False) as store:
        summary = summarise(store, store.run(request.run).id)
    texts: dict[str, str] = plugins.make("exporters", request.as_, summary)
    written = _places(request.to, list(texts))
    for path in written:
        if path.exists() and not request.force:
            raise UsageError(
                f"{path} is there already",
                hint="choose another name for --to, or replace it with --force",
            )
    for path, text in zip(written, texts.values(), strict=True):
        base.write_text(path, text)
    return Answer(
        run=summary.run.id,
        candidate=summary.best.id if summary.best else "",
        form=request.as_,
        files=tuple(map(str, written)),
    )


def _places(to: Path | None, names: list[str]) -> list[Path]:
    if to is None:
        return [Path(name) for name in names]
    if len(names) == 1 and not to.is_dir() and (to.suffix or to.exists()):
        return [to]
    return [to / name for name in names]
