"""What a verb opens before it works: store, executor, task, the user's own candidates."""

import ast
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from kernelwright import plugins
from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.candidates.header import parse
from kernelwright.candidates.notation import language_of
from kernelwright.candidates.tunables import space
from kernelwright.devices import detect
from kernelwright.errors import (
    HeaderError,
    JudgeError,
    KernelwrightError,
    PrerequisiteError,
    StoreError,
    UsageError,
)
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.executors.base import Executor
from kernelwright.executors.devices import known_values
from kernelwright.records.candidate import Candidate, Value
from kernelwright.records.run import Run
from kernelwright.records.task import Task
from kernelwright.settings import Settings
from kernelwright.store.store import Store
from kernelwright.store.writer import Writer
from kernelwright.tasks.load import load_task
from kernelwright.verbs.base import read_source

TaskSpec = str | Path | Callable[..., Any]


@contextmanager
def store(settings: Settings, *, writable: bool = True, new: bool = True) -> Iterator[Store]:
    """The store, closed afterwards.

    Args:
        settings: say where it is.
        writable: False where it is only read: then it may lie where nothing can be written.
        new: False where something stored is gone on with: none is made, also of an empty file.

    Raises:
        StoreError: it cannot be opened, or not be written.
    """
    opened = Store.open(settings.store or None, writable=writable, new=new)
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def resumable(store: Store, run: str = "") -> Iterator[None]:
    """Say how to go on when something breaks in the middle of a run.

    Args:
        store: where the run is.
        run: its id; empty: a run that begins inside.

    Raises:
        KernelwrightError: what broke, with the command that resumes in its hint.
        KeyboardInterrupt: with that command as its text, if there is a run to resume.
    """
    before = set(store.all_runs()) - {run}
    try:
        yield
    except StoreError:
        raise
    except KeyboardInterrupt as ending:
        raise KeyboardInterrupt(_goes_on(store, before, "stopped")) from ending
    except KernelwrightError as problem:
        if resumes := _goes_on(store, before, "broke"):
            # What a fault of ours says of itself helps nobody who wants to go on.
            kept = "" if isinstance(problem, JudgeError) else problem.hint
            problem.hint = "\n".join(filter(None, (kept, resumes)))
        raise


def _goes_on(store: Store, before: Container[str], how: str) -> str:
    """The command that goes on with a run that began since and has not ended, or an empty text."""
    with suppress(KernelwrightError):  # the store went away too
        for one in store.runs(present=True):
            mine = one.id not in before
            if mine and (one.status == "interrupted" or Writer(store).holds(one.id)):
                return f"kernelwright runs resume {one.id} goes on where it {how}"
    return ""


def executor(settings: Settings) -> Executor:
    """The executor that the settings name, not yet opened.

    Raises:
        UsageError: there is none of that name.
        UserError: something it needs is missing.
    """
    check_threads(settings)
    made: Executor = plugins.make(
        "executors",
        settings.executor,
        threads=settings.cores,
        sandbox=settings.sandbox,
        compiler=settings.compiler,
        cache=settings.cache,
    )
    return made


def check_threads(settings: Settings) -> None:
    """Refuse more threads than cores.

    Raises:
        UsageError: there are more.
    """
    if settings.cores > (cores := detect.cores()):
        raise UsageError(
            f"more threads ({settings.cores}) than cores ({cores}) would measure the scheduler",
            hint=f"--threads {cores}",
        )


def executor_of(run: Run, settings: Settings) -> Executor:
    """An executor like the one that a stored run began with.

    Raises:
        UsageError: this machine has fewer cores than it had threads.
        UserError: something it needs is missing.
    """
    spec = run.spec
    if spec.threads > detect.cores():
        raise UsageError(
            f"run {run.id} has more threads ({spec.threads}) than cores here ({detect.cores()})",
            hint="do this on a machine that has as many",
        )
    names = ("threads", "sandbox", "compiler", "seed")
    fixed = {name: getattr(spec, name) for name in names}
    return executor(Settings.load(settings.model_dump() | fixed))


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
    """The words, each a known part of its kind that loads.

    Raises:
        UsageError: one is unknown; suggests the nearest.
        PrerequisiteError: one is a third party's that does not load.
    """
    for word in words:
        plugins.load(kind, word)
    return tuple(words)


def task(spec: TaskSpec, inputs: Any = None) -> Task:
    """The task of that name, path or callable.

    Raises:
        TaskError: it cannot be read.
    """
    return load_task(spec, inspector=inspector, inputs=inputs)


def inspector(request: dict[str, Any]) -> dict[str, Any]:
    """What running a foreign file in the oracle's process tells of it."""
    with closing(Oracle()) as oracle:
        return oracle.inspect(request)


def candidate(
    origin: Path | str, task: Task, settings: Settings, tune: Sequence[str] = ()
) -> Candidate:
    """The user's own candidate, with the first valid point of its tunables.

    Args:
        origin: its file, or its source (a text of more than one line) in the first language of
            the settings.
        task: the task it is for.
        settings: the number of threads it may use, and the language.
        tune: ``NAME=VALUE``: values to take instead.

    Raises:
        UsageError: no such file, an ending that names no language, or a value not listed.
        HeaderError: its header cannot be read; names the file.
    """
    inline = isinstance(origin, str) and "\n" in origin
    path = Path("the candidate" if inline else origin)
    source = str(origin) if inline else read_source(path)
    language = _language(source, settings) if inline else language_of(path, source)
    try:
        values = _values(source, language, task, settings, tune)
        return make_candidate(source, language, values, origin="" if inline else str(path))
    except HeaderError as problem:
        raise HeaderError(f"{path}: {problem.message}", hint=problem.hint) from problem


def _language(source: str, settings: Settings) -> str:
    """The language of a text without a name: what defines something in Python is no C++."""
    try:
        python = bool(ast.parse(source).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        python = False
    return language_of(Path("candidate.py"), source) if python else settings.language[0]


def _values(
    source: str, language: str, task: Task, settings: Settings, tune: Sequence[str]
) -> dict[str, Value]:
    header = parse(source, language)
    found = space(header, known_values(language, task, settings))
    values = found.default()
    if header.tune and not values:
        raise HeaderError("no values of its tunables meet its constraints here")
    for word in tune:
        name, _, text = word.partition("=")
        if name not in found.choices:
            known_names = tuple(found.choices)
            hint = plugins.nearest(name, known_names) if known_names else "its file declares none"
            raise UsageError(f"the candidate has no tunable {name!r}", hint=hint)
        if not text:
            raise UsageError(f"--tune {word} names no value", hint=f"write --tune {name}=VALUE")
        listed = {str(value): value for value in found.choices[name]}
        if text not in listed:
            raise UsageError(f"{name} = {text!r} is not listed", hint=f"known: {', '.join(listed)}")
        values[name] = listed[text]
    if not found.is_valid(values):
        raise UsageError("these values do not meet the candidate's constraints")
    return values
