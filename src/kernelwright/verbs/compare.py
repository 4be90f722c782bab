"""Time two candidates against each other, paired, in one session.

A and B are files, or runs for their winners. Both are judged first: only right answers are timed.
Then B is timed against A as candidates are against baselines, except that both are confined and
both are inspected. --rung full: one process and memory each; confirm: several fresh ones, and
hidden shapes too. --tune first chooses the numbers of each, with equally many looks, so that two
structures are compared and not two guesses. What is said is said of B: ratio = A's time / B's
time. Exit code 3: B is slower, or one of them was rejected.
"""

from typing import Annotated, Literal

from pydantic import Field

from kernelwright.errors import JudgeError, UsageError
from kernelwright.executors.base import Executor, judged
from kernelwright.executors.devices import must_run_here
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.records.sensitivity import policy_of
from kernelwright.records.task import Task
from kernelwright.search.rungs import plans_for
from kernelwright.verbs import base, entrants, sensitivity, setup
from kernelwright.verbs.compare_answer import CompareAnswer
from kernelwright.verbs.tuning import tuned

TUNE_LOOKS = 24
"""Looks at each of the two, where nothing else was asked for."""


class Request(base.Request):
    """Which two, and how closely."""

    a: Annotated[str, base.Positional()] = Field(description="a file, or a run for its winner")
    b: Annotated[str, base.Positional()] = Field(description="a file, or a run for its winner")
    task: str | None = Field(None, description="what both compute; a run knows its own")
    rung: Literal["full", "confirm"] = Field(
        "confirm", description="how closely: confirm takes several processes and memories"
    )
    tune: bool = Field(False, description="choose the values of each one's tunables first")
    evaluations: int | None = Field(
        None, ge=1, description="most looks at each while its numbers are chosen"
    )
    device: str | None = Field(None, description="where kernels run: auto or cpu")
    threads: int | None = Field(None, ge=0, description="threads of the kernels; 0: every core")
    compiler: str | None = Field(None, description="C++ compiler: g++ or clang++")
    sandbox: Literal["auto", "require", "off"] | None = Field(
        None, description="isolation of the candidates"
    )
    seed: int | None = Field(None, ge=0, description="seed of the resampling behind an interval")
    store: str | None = Field(None, description="file or database URL that keeps every run")


class Answer(CompareAnswer):
    """How B does against A."""


def run(request: Request, *, observer: object = None, task: Task | None = None) -> Answer:
    """Build, judge and time both.

    Args:
        request: which two.
        observer: unused; both are looked at in one session.
        task: the task itself, where a face has loaded it already.

    Raises:
        UserError: something is wrong or missing that the user can mend.
        JudgeError: the machinery broke; there is no verdict.
    """
    settings = request.settings()
    if request.evaluations is not None and not request.tune:
        raise UsageError("--evaluations says how long to tune", hint="add --tune, or leave it out")
    setup.device(settings)
    match = entrants.match((request.a, request.b), task or request.task, request.threads, settings)
    for one in match.entrants:
        must_run_here(one.candidate.language)
    executor = setup.executor(match.settings)
    tried = (0, 0)
    try:
        if request.tune:
            match, tried = _tuned(executor, match)
        first, second = _looks(executor, match, Rung.from_word(request.rung), opened=request.tune)
    finally:
        executor.close()
    policy = policy_of(match.task, sensitivity.known(match.settings, match.task))
    return Answer.of(match, policy, request.rung, first, second, tried)


def _tuned(executor: Executor, match: entrants.Match) -> tuple[entrants.Match, tuple[int, int]]:
    """Both with their best numbers, and how many points were looked at for each."""
    sensitivity.opened(executor, match.task, match.settings)
    looks = match.settings.evaluations or TUNE_LOOKS
    a, b = (
        tuned(executor, match.task, one.candidate, looks, match.settings) for one in match.entrants
    )
    chosen = tuple(
        one._replace(candidate=found.candidate)
        for one, found in zip(match.entrants, (a, b), strict=True)
    )
    return match._replace(entrants=chosen), (a.tried, b.tried)


def _looks(
    executor: Executor, match: entrants.Match, rung: Rung, *, opened: bool
) -> tuple[Evaluation, Evaluation]:
    """What was found of A and of B; what was found of B holds the comparison, if there is one."""
    a, b = (one.candidate for one in match.entrants)
    plans = plans_for(match.settings.effort)
    drafts = [judged(executor, _job(match, one, plans[Rung.DRAFT])) for one in (a, b)]
    if not all(draft.passed for draft in drafts):
        return drafts[0], drafts[1]
    # A confirm is a session of its own against every baseline; here both meet in this one.
    plan = plans[rung].model_copy(update={"rung": Rung.FULL, "all_baselines": False})
    untimed = plan.model_copy(update={"looks": ()})
    if not opened:
        sensitivity.opened(executor, match.task, match.settings)
    first = judged(executor, _job(match, a, untimed))
    if not first.passed:
        return first, judged(executor, _job(match, b, untimed))
    second = judged(executor, _job(match, b, plan, rival=a))
    if second.passed and {one.baseline for one in second.comparisons} != {a.id}:
        raise JudgeError(f"executor {match.settings.executor} cannot time two candidates")
    return first, second


def _job(
    match: entrants.Match, candidate: Candidate, plan: RungPlan, rival: Candidate | None = None
) -> JudgeJob:
    return JudgeJob(
        number=0,  # one at a time
        task=match.task,
        candidate=candidate,
        plan=plan,
        seed=match.settings.seed,
        threads=match.settings.cores,
        sandbox=match.settings.sandbox,
        rival=rival,
    )
