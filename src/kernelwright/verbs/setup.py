"""What a verb opens before it works: the store, the executor, the parts named."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kernelwright import plugins
from kernelwright.errors import PrerequisiteError, UsageError
from kernelwright.executors.base import Executor
from kernelwright.settings import Settings
from kernelwright.store.store import Store


@contextmanager
def store(settings: Settings) -> Iterator[Store]:
    """The store, closed afterwards.

    Raises:
        StoreError: it cannot be opened.
    """
    opened = Store.open(settings.store or None)
    try:
        yield opened
    finally:
        opened.close()


def executor(settings: Settings) -> Executor:
    """The executor that the settings name, not yet opened.

    Raises:
        UsageError: there is none of that name.
        UserError: something it needs is missing.
    """
    made: Executor = plugins.load("executors", settings.executor)(
        threads=settings.cores,
        sandbox=settings.sandbox,
        compiler=settings.compiler,
        seed=settings.seed,
        cache=settings.cache,
    )
    return made


def device(settings: Settings) -> str:
    """The device that ``auto`` stands for, or the one that was named.

    Raises:
        UsageError: no such device.
        PrerequisiteError: a device on which this version cannot run kernels.
    """
    if settings.device in ("auto", "cpu"):
        return "cpu"
    if settings.device.partition(":")[0] in ("cuda", "gpu"):
        raise PrerequisiteError(
            f"kernels cannot run on {settings.device} in this version", hint="--device cpu"
        )
    raise UsageError(f"unknown device {settings.device!r}", hint="known: auto, cpu")


def known(kind: plugins.Kind, words: Sequence[str]) -> tuple[str, ...]:
    """The words, each a known part of its kind.

    Raises:
        UsageError: one is unknown; suggests the nearest.
    """
    names = plugins.names(kind)
    for word in words:
        if word not in names:
            singular = kind.removesuffix("s")
            raise UsageError(f"unknown {singular} {word!r}", hint=plugins.nearest(word, names))
    return tuple(words)
