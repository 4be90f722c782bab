"""Time two candidates against each other, paired, in one session.

A and B are files, or runs for their winners. Both are judged first: only right answers are timed.
Then B is timed against A as candidates are against baselines, except that both are confined and
both are inspected. --rung full: one process and memory each; confirm: several fresh ones, and
hidden shapes too. What is said is said of B: ratio = A's time / B's time. Exit code 3: B is
slower, or one of them was rejected.
"""

from typing import Annotated, Literal

from pydantic import Field

from kernelwright.errors import JudgeError
from kernelwright.executors.base import Executor, judged
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.records.sensitivity import policy_of
from kernelwright.search.rungs import plans_for
from kernelwright.verbs import base, entrants, sensitivity, setup
from kernelwright.verbs.compare_answer import CompareAnswer


class Request(base.Request):
    """Which two, and how closely."""

    a: Annotated[str, base.Positional()] = Field(description="a file, or a run for its winner")
    b: Annotated[str, base.Positional()] = Field(description="a file, or a run for its winner")
    task: str | None = Field(None, description="what both compute; a run knows its own")
    rung: Literal["full", "confirm"] = Field(
        "confirm", description="how closely: confirm takes several processes and memories"
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


def run(request: Request, *, observer: object = None) -> Answer:
    """Build, judge and time both.

    Raises:
        UserError: something is wrong or missing that the user can mend.
        JudgeError: the machinery broke; there is no verdict.
    """
    settings = request.settings()
    setup.device(settings)
    match = entrants.match((request.a, request.b), request.task, request.threads, settings)
    executor = setup.executor(match.settings)
    try:
        first, second = _looks(executor, match, Rung.from_word(request.rung))
    finally:
        executor.close()
    policy = policy_of(match.task, sensitivity.known(match.settings, match.task))
    return Answer.of(match, policy, request.rung, first, second)


def _looks(executor: Executor, match: entrants.Match, rung: Rung) -> tuple[Evaluation, Evaluation]:
    """What was found of A and of B; what was found of B holds the comparison, if there is one."""
    a, b = (one.candidate for one in match.entrants)
    plans = plans_for(match.settings.effort)
    drafts = [judged(executor, _job(match, one, plans[Rung.DRAFT])) for one in (a, b)]
    if not all(draft.passed for draft in drafts):
        return drafts[0], drafts[1]
    # A confirm is a session of its own against every baseline; here both meet in this one.
    plan = plans[rung].model_copy(update={"rung": Rung.FULL, "all_baselines": False})
    untimed = plan.model_copy(update={"looks": ()})
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
