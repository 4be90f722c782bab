"""Judge one candidate.

TASK is a built-in name, a folder with task.toml, a KernelBench file, or file.py:callable. FILE is
the candidate's source. It is built first (draft: nothing is run or checked); what does not build is
answered at once. Then baselines are timed and it is judged at the rung: smoke, screen, full or
confirm, cheap to dear. Exit code 3: it was rejected; the outcome says by what.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from kernelwright.checks.sensitivity import InsensitiveTask
from kernelwright.errors import UsageError
from kernelwright.executors.base import Executor, judged
from kernelwright.executors.devices import must_run_here
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.records.sensitivity import policy_of
from kernelwright.records.task import Task
from kernelwright.search.rungs import plans_for
from kernelwright.settings import Settings
from kernelwright.tasks import contract
from kernelwright.tasks.load import KERNELS
from kernelwright.verbs import base, sensitivity, setup
from kernelwright.verbs.evaluation_answer import EvaluationAnswer


class Request(base.Request):
    """Which candidate, for which task, how closely."""

    task: Annotated[str, base.Positional()] = Field(description="name, path or file.py:callable")
    file: Annotated[Path | str, base.Positional()] = Field(description="the candidate's source")
    rung: Literal["draft", "smoke", "screen", "full", "confirm"] = Field(
        "screen", description="how much is spent on the look"
    )
    baseline: Literal["strongest", "all"] = Field(
        "strongest", description="what it is compared with"
    )
    tune: tuple[str, ...] = Field((), description="values of its tunables: NAME=VALUE,…")
    device: str | None = Field(None, description="where kernels run: auto or cpu")
    threads: int | None = Field(None, ge=0, description="threads of the kernel; 0: every core")
    compiler: str | None = Field(None, description="C++ compiler: g++ or clang++")
    sandbox: Literal["auto", "require", "off"] | None = Field(
        None, description="isolation of the candidate"
    )
    seed: int | None = Field(
        None,
        ge=0,
        description="seed of the resampling behind an interval; the judge draws its own secrets, "
        "so inputs and hidden shapes differ from call to call",
    )


class Answer(EvaluationAnswer):
    """The verdict."""


def run(request: Request, *, observer: object = None, task: Task | None = None) -> Answer:
    """Build and judge.

    Args:
        request: what to judge.
        observer: unused; a look is short.
        task: the task itself, where a face has loaded it already.

    Raises:
        UserError: something is wrong or missing that the user can mend.
        ControlError: the judge does not tell on this machine now what it must.
        JudgeError: the machinery broke; there is no verdict.
    """
    settings = request.settings()
    device = setup.device(settings)
    if task is None:
        _check_order(request)
    loaded = task or setup.task(request.task)
    candidate = setup.candidate(request.file, loaded, settings, request.tune)
    plans = plans_for(settings.effort)
    rung = Rung.from_word(request.rung)
    if rung:
        must_run_here(candidate.language)
    looks = [plans[Rung.DRAFT]] + ([plans[rung]] if rung else [])
    if request.baseline == "all":
        looks = [plan.model_copy(update={"all_baselines": True}) for plan in looks]
    executor, session = setup.executor(settings), None
    try:
        known = sensitivity.known(settings, loaded) if rung else None
        # What does not build is answered at once: no baseline is timed for it, no control run.
        evaluation = _judged(executor, 0, looks[0], loaded, candidate, settings)
        if evaluation.passed and rung:
            if rung < Rung.CONFIRM:  # a confirm opens a session of its own
                dear = rung > Rung.SMOKE
                session = sensitivity.opened(executor, loaded, settings, controls=dear)
                known = session.sensitivity
            evaluation = _judged(executor, 1, looks[1], loaded, candidate, settings)
    except InsensitiveTask as refusal:
        known, evaluation = refusal.found, _refused(candidate, request.rung, refusal, settings)
    finally:
        executor.close()
    main = contract.workload(loaded, "cpu" if device == "cpu" else "gpu")
    policy = policy_of(loaded, known)
    shown = main.name if main else ""
    return Answer.of(candidate, evaluation, policy, main=shown, session=session)


def _refused(
    candidate: Candidate, rung: str, refusal: InsensitiveTask, settings: Settings
) -> Evaluation:
    finding = refusal.finding()
    return Evaluation(
        candidate=candidate.id,
        rung=Rung.from_word(rung),
        outcome=finding.outcome,
        reason=finding.reason,
        evidence=finding.evidence,
        seed=settings.seed,
    )


def _check_order(request: Request) -> None:
    """The task comes first.

    Raises:
        UsageError: the two arguments stand the wrong way round.
    """
    first, second = Path(request.task).suffix, Path(request.file).suffix
    if first in KERNELS and second not in KERNELS and "\n" not in str(request.file):
        raise UsageError(
            "the task comes first, then the candidate's file",
            hint=f"kernelwright evaluate {request.file} {request.task}",
        )


def _judged(
    executor: Executor,
    number: int,
    plan: RungPlan,
    task: Task,
    candidate: Candidate,
    settings: Settings,
) -> Evaluation:
    job = JudgeJob(
        number=number,
        task=task,
        candidate=candidate,
        plan=plan,
        seed=settings.seed,
        threads=settings.cores,
        sandbox=settings.sandbox,
    )
    return judged(executor, job)
