"""Search for a faster kernel of a task.

TASK is a built-in name (kernelwright tasks list), a folder with task.toml, a KernelBench file, or
file.py:callable. Candidates are built, checked, timed against every baseline, and the best is
confirmed in fresh processes before its speedup is reported. Ctrl-C leaves a run that can be
resumed, and a run that lacked time can be given more (kernelwright runs resume).
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from kernelwright.executors.devices import must_run_here
from kernelwright.records.candidate import Candidate
from kernelwright.records.run import MOST_SPEEDUP, Budget, Effort, RunSpec
from kernelwright.records.task import Task
from kernelwright.report import text
from kernelwright.search.loop import start_run
from kernelwright.search.observer import Observer
from kernelwright.search.rungs import efforts
from kernelwright.settings import Settings
from kernelwright.store.place import check_place
from kernelwright.verbs import base, setup
from kernelwright.verbs.run_answer import RunAnswer


class Request(base.Request):
    """What to make faster, and how much may be spent on it."""

    task: Annotated[str, base.Positional()] = Field(description="name, path or file.py:callable")
    device: str | None = Field(None, description="where kernels run: auto or cpu")
    language: tuple[str, ...] | None = Field(None, description="languages of new kernels")
    proposer: tuple[str, ...] | None = Field(None, description="who proposes candidates")
    start: tuple[Path, ...] = Field((), description="your own kernel to start from; repeatable")
    effort: Effort | None = Field(None, description=efforts())
    minutes: float | None = Field(
        None, gt=0, description="most wall time, in minutes; without a budget the effort's"
    )
    evaluations: int | None = Field(
        None, ge=1, description="most looks at candidates; given alone, time has no limit"
    )
    target: float | None = Field(
        None,
        gt=1,
        le=MOST_SPEEDUP,
        description="stop when this speedup over the strongest baseline is confirmed",
    )
    threads: int | None = Field(None, ge=0, description="threads of a kernel; 0: every core")
    compiler: str | None = Field(None, description="C++ compiler: g++ or clang++")
    sandbox: Literal["auto", "require", "off"] | None = Field(
        None, description="isolation of candidates"
    )
    seed: int | None = Field(
        None,
        ge=0,
        description="seed of the search: who is proposed, and when; the judge draws its own "
        "secrets, so inputs and hidden shapes differ from run to run",
    )
    store: str | None = Field(None, description="file or database URL that keeps every run")
    dry_run: bool = Field(False, description="say what it would do and cost at most")


class Answer(RunAnswer):
    """What the run found."""


class Plan(base.Answer):
    """What a run would do and cost at most."""

    dry_run: Literal[True] = True
    task: str
    workloads: tuple[str, ...]
    device: str
    language: tuple[str, ...]
    proposer: tuple[str, ...]
    start: tuple[str, ...]
    effort: Effort
    minutes: float | None
    evaluations: int | None
    target: float | None
    threads: int
    compiler: str
    sandbox: str
    seed: int
    store: str

    def text(self) -> str:
        """A table of what would be done."""
        minutes = "no limit" if self.minutes is None else f"{self.minutes:g} minutes of wall time"
        looks = "" if self.evaluations is None else f", {text.count(self.evaluations, 'look')}"
        return text.table(
            ("what", "value"),
            [
                ("task", self.task),
                ("workloads", ", ".join(self.workloads)),
                ("device", f"{self.device}, {text.count(self.threads, 'thread')}"),
                ("languages", ", ".join(self.language)),
                ("proposers", ", ".join(self.proposer)),
                ("start from", ", ".join(self.start) or "nothing of yours"),
                ("cost at most", f"{minutes}{looks}; no tokens, no money"),
                ("stops early", f"at {self.target}x" if self.target else "when nothing is left"),
                ("isolation", self.sandbox),
                ("store", self.store or "the default"),
            ],
        )

    def notes(self) -> list[str]:
        """That nothing ran."""
        return ["dry run: nothing was built or run"]


def run(
    request: Request,
    *,
    observer: Observer | None = None,
    task: Task | None = None,
) -> Answer | Plan:
    """Search, or with ``dry_run`` say what a search would do.

    Args:
        request: what to do.
        observer: watches the search.
        task: the task itself, where a face has loaded it already; ``request.task`` is its name.

    Raises:
        UserError: something is wrong or missing that the user can mend.
        JudgeError: the machinery broke; the run can be resumed.
    """
    settings = request.settings()
    loaded = task or setup.task(request.task)
    spec = _spec(request, settings)
    start = [setup.candidate(path, loaded, settings) for path in request.start]
    for language in dict.fromkeys((*spec.languages, *(one.language for one in start))):
        must_run_here(language)
    if request.dry_run:
        setup.check_threads(settings)
        check_place(settings.store or None)
        return _plan(loaded, spec, start, settings)
    executor = setup.executor(settings)
    with setup.store(settings) as store, setup.resumable(store):
        summary = start_run(store, executor, loaded, spec, start=start, observer=observer)
        return Answer.of(summary)


def _spec(request: Request, settings: Settings) -> RunSpec:
    return RunSpec(
        task="",
        device=setup.device(settings),
        languages=setup.known("languages", settings.language),
        proposers=setup.known("proposers", settings.proposer),
        parents=setup.known("parents", (settings.parents,))[0],
        effort=settings.effort,
        budget=Budget(minutes=settings.budget_minutes(), evaluations=settings.evaluations),
        target=request.target,
        seed=settings.seed,
        threads=settings.cores,
        sandbox=settings.sandbox,
        compiler=settings.compiler,
    )


def _plan(task: Task, spec: RunSpec, start: list[Candidate], settings: Settings) -> Plan:
    fields: dict[str, Any] = {
        "workloads": tuple(one.name for one in task.workloads if one.device == spec.device),
        "start": tuple(one.origin for one in start),
        "language": spec.languages,
        "proposer": spec.proposers,
        "minutes": spec.budget.minutes,
        "evaluations": spec.budget.evaluations,
    }
    return Plan(
        task=task.name,
        device=spec.device,
        effort=spec.effort,
        target=spec.target,
        threads=spec.threads,
        compiler=spec.compiler,
        sandbox=spec.sandbox,
        seed=spec.seed,
        store=settings.store,
        **fields,
    )
