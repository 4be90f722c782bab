"""The Python API: a function a verb, derived from the same table as the command line.

``optimize``, ``evaluate`` and ``resume`` are written out, since they also take what a command
line cannot: a callable as the task, source instead of a file, a run's result as an object. Every
other function takes the fields of its verb's request and returns its answer.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelwright.errors import UsageError, python_words
from kernelwright.records.candidate import Candidate
from kernelwright.report import summary as report
from kernelwright.search.observer import Observer
from kernelwright.search.summary import RunSummary, summarise
from kernelwright.settings import Settings
from kernelwright.store import frames
from kernelwright.verbs import evaluate as evaluate_verb
from kernelwright.verbs import optimize as optimize_verb
from kernelwright.verbs import runs_resume as resume_verb
from kernelwright.verbs import setup, table
from kernelwright.verbs.calls import in_python, signature_of, slip, takes_a_task
from kernelwright.verbs.evaluation_answer import EvaluationAnswer
from kernelwright.verbs.run_answer import RunAnswer
from kernelwright.verbs.setup import TaskSpec

if TYPE_CHECKING:
    import pandas as pd


class RunResult:
    """What a run found. Everything is read from the store, so it can be asked at any time."""

    def __init__(self, answer: RunAnswer, store: str | None) -> None:
        self.answer = answer
        self._store = store

    @property
    def id(self) -> str:
        """The run's id, for ``resume`` and the command line."""
        return self.answer.run

    @property
    def status(self) -> str:
        """How it ended, for example ``improved`` or ``no_improvement``."""
        return self.answer.status

    @property
    def best(self) -> Candidate | None:
        """The confirmed winner, or None."""
        return self.details.best if self.answer.best else None

    @property
    def leading(self) -> Candidate | None:
        """Who leads while nobody is confirmed, or None; nothing is claimed of it."""
        return self.details.leading.candidate if self.details.leading else None

    @property
    def next(self) -> str:
        """The command to go on with, or ""; ``resume(run, minutes=2)`` is the same in Python."""
        return "\n".join(self.answer.next)

    @property
    def details(self) -> RunSummary:
        """Everything: the confirming evaluation, the session, counts, costs."""
        return self.answer.summary

    def summary(self) -> str:
        """One screen of text: every ratio with its baseline and interval."""
        return report.run_text(self.details)

    def to_frame(self) -> "pd.DataFrame":
        """One row an evaluation."""
        with setup.store(Settings.load({"store": self._store}), writable=False) as opened:
            return frames.to_frame(opened, self.id)

    def ship(self, form: str = "file", to: Path | str | None = None, force: bool = False) -> Any:
        """Write the winner; as the verb ``ship``."""
        return call("ship", run=self.id, as_=form, to=to, force=force, store=self._store)

    def confirm(self) -> "RunResult":
        """Measure its best anew; the newest number counts, as the verb ``confirm`` says."""
        return RunResult(call("confirm", run=self.id, store=self._store), self._store)

    def audit(self) -> Any:
        """Repeat everything about its best from its source; as the verb ``audit``."""
        return call("audit", run=self.id, store=self._store)

    def __repr__(self) -> str:
        return f"RunResult({report.in_a_line(self.details)})"


@python_words(in_python)
def optimize(
    task: TaskSpec,
    *,
    inputs: Callable[[], Sequence[Any]] | Sequence[Any] | None = None,
    start: Sequence[Path | str] | Path | str = (),
    observer: Observer | None = None,
    **fields: Any,
) -> RunResult:
    """Search for a faster kernel.

    Args:
        task: a built-in name, a path, ``file.py:callable``, or a callable defined in a file.
        inputs: for a callable: example arguments, or a function that returns them.
        start: your own kernels to start from.
        observer: watches the search.
        fields: ``effort``, ``minutes``, ``evaluations``, ``target``, ``store``, ``seed`` (of the
            search; the judge draws its own secrets), ``threads`` and the other options of
            ``kernelwright optimize``.

    Returns:
        The run; an interrupted one says so in its status and can be given to ``resume``.

    Raises:
        UserError: something is wrong or missing that the user can mend.
        JudgeError: the machinery broke.
    """
    paths = (start,) if isinstance(start, Path | str) else tuple(start)
    request = optimize_verb.Request.of(task=_named(task), start=paths, **fields)
    if request.dry_run:
        raise UsageError(
            "dry_run makes no run that could be returned",
            hint="kernelwright.call('optimize', task=..., dry_run=True) returns the plan",
        )
    loaded = setup.task(task, inputs)
    answer = optimize_verb.run(request, observer=observer, task=loaded)
    assert isinstance(answer, RunAnswer)  # noqa: S101 (a plan is the answer to a dry run only)
    return RunResult(answer, request.store)


@python_words(in_python)
def evaluate(
    task: TaskSpec,
    candidate: Path | str,
    *,
    inputs: Callable[[], Sequence[Any]] | Sequence[Any] | None = None,
    rung: str = "screen",
    **fields: Any,
) -> EvaluationAnswer:
    """Judge one candidate.

    Args:
        task: as for :func:`optimize`.
        candidate: a file, or source in C++ or Python (a text of more than one line).
        inputs: as for :func:`optimize`.
        rung: ``draft`` (built, not run), ``smoke``, ``screen``, ``full`` or ``confirm``.
        fields: the other options of ``kernelwright evaluate``.

    Returns:
        The verdict: ``outcome``, ``reason``, ``comparisons`` and the whole ``evaluation``.

    Raises:
        UserError: something is wrong or missing that the user can mend.
        JudgeError: the machinery broke; there is no verdict.
    """
    request = evaluate_verb.Request.of(task=_named(task), file=candidate, rung=rung, **fields)
    loaded = setup.task(task, inputs)
    return evaluate_verb.run(request, task=loaded)


@python_words(in_python)
def resume(
    run: RunResult | str,
    *,
    minutes: float | None = None,
    evaluations: int | None = None,
    observer: Observer | None = None,
    store: str | None = None,
) -> RunResult:
    """Go on with a run that was interrupted, or that lacked budget.

    Args:
        run: the run, its id, the beginning of one, or ``latest``.
        minutes: wall time to add to what was given; a run that ended for want of it goes on.
        evaluations: looks to add, in the same way.
        observer: watches the search.
        store: where the run is, unless the settings say it.

    Raises:
        UserError: there is no such run, or it is finished and more budget changes nothing.
        JudgeError: the machinery broke.
    """
    if isinstance(run, RunResult):
        store = store or run._store
    name = run.id if isinstance(run, RunResult) else run
    more = {"minutes": minutes, "evaluations": evaluations}
    request = resume_verb.Request.of(run=name, store=store, **more)
    return RunResult(resume_verb.run(request, observer=observer), store)


@python_words(in_python)
def open_run(run: str = "latest", *, store: str | None = None) -> RunResult:
    """A stored run as :func:`optimize` returned it.

    Raises:
        UserError: there is no such run.
    """
    with setup.store(Settings.load({"store": store}), writable=False) as opened:
        summary = summarise(opened, opened.run(run).id)
    return RunResult(RunAnswer.of(summary), store)


@python_words(in_python)
def call(name: str, *, observer: Observer | None = None, **fields: Any) -> Any:
    """Any verb by name: its request from ``fields``, its answer back.

    Raises:
        KeyError: there is no such verb.
        UserError: something is wrong or missing that the user can mend.
    """
    module = table.find(name).load()
    task: Any = fields.get("task")
    inputs = fields.pop("inputs", None)
    if not takes_a_task(module) or (inputs is None and not callable(task)):
        return module.run(module.Request.of(**fields), observer=observer)
    request = module.Request.of(**{**fields, "task": _named(task)})
    return module.run(request, observer=observer, task=setup.task(task, inputs))


def function(verb: table.Verb) -> Callable[..., Any]:
    """A function with the fields of the verb's request; a task as :func:`optimize` takes it."""
    module = verb.load()

    def calls(*arguments: Any, **fields: Any) -> Any:
        try:
            bound = calls.__signature__.bind(*arguments, **fields)  # type: ignore[attr-defined]
        except TypeError as problem:
            raise TypeError(slip(verb, str(problem), fields)) from None
        return call(verb.name, **bound.arguments)

    calls.__name__ = calls.__qualname__ = verb.function
    calls.__doc__ = module.__doc__
    calls.__signature__ = signature_of(module)  # type: ignore[attr-defined]
    return calls


def _named(task: TaskSpec) -> str:
    return getattr(task, "__qualname__", str(task)) if callable(task) else str(task)


def __getattr__(name: str) -> Any:
    try:
        return function(table.find(name))
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
