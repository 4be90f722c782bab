"""Repeat everything about a run's best from its stored source, in clean processes.

The source must be what its id says, and the stored decisions are replayed. The kernel is built
anew and judged by a fresh verifier: every stage, fresh seeds, hidden shapes, every baseline. What
was stored and what was found now stand side by side. The verdict is "holds" where it passes and,
against each baseline, the intervals overlap or the decision is the same; else "differs", and it
says what. The run's own number stays as it is: to replace it, confirm. RUN is an id, the
beginning of one, or "latest". Exit code 3: it does not hold.
"""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from kernelwright.candidates.fingerprint import exact_id
from kernelwright.errors import StoreError, UsageError
from kernelwright.executors.base import judged
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob
from kernelwright.records.rung import Rung
from kernelwright.search.addendum import confirm_plan, remember_audit
from kernelwright.search.observer import Observer
from kernelwright.search.replay import replay_run
from kernelwright.search.summary import RunSummary, summarise
from kernelwright.settings import Settings
from kernelwright.verbs import base, entrants, setup
from kernelwright.verbs.audit_answer import AuditAnswer


class Request(base.Request):
    """Which run."""

    run: Annotated[str, base.Positional()] = Field(description="id, its beginning, or latest")
    store: str | None = Field(None, description="file or database URL that keeps every run")


class Answer(AuditAnswer):
    """Whether what the run says of its best holds."""


def run(request: Request, *, observer: Observer | None = None) -> Answer:
    """Audit, with the threads, sandbox, compiler and seed that the run began with.

    Raises:
        UserError: something is wrong or missing that the user can mend.
        JudgeError: the machinery broke; there is no verdict.
    """
    entrants.must_name_a_run(request.run)
    settings = request.settings()
    with setup.store(settings, writable=False) as store:
        summary = summarise(store, store.run(request.run).id)
        best, then = _claim(summary)
        replayed = replay_run(store, summary.run.id)
    genuine = exact_id(best.language, best.source, best.tunables) == best.id
    now = _again(summary, best, settings, observer or Observer()) if genuine else None
    answer = Answer.of(summary, best, then, now, replayed)
    return answer.model_copy(update={"remembered": _remember(settings, answer)})


def _claim(summary: RunSummary) -> tuple[Candidate, Evaluation]:
    """What the run says, and of whom.

    Raises:
        UsageError: it says nothing that could be audited.
    """
    run = summary.run
    if run.status == "running":
        raise UsageError(
            f"run {run.id} is being worked on", hint="wait for it: one would disturb the other"
        )
    if summary.best is None or summary.confirmed is None:
        raise UsageError(
            f"run {run.id} has no confirmed number to audit ({run.status})",
            hint=f"kernelwright confirm {run.id} measures its leader, if it has one",
        )
    return summary.best, summary.confirmed


def _again(
    summary: RunSummary, best: Candidate, settings: Settings, observer: Observer
) -> Evaluation:
    spec = summary.run.spec
    executor = setup.executor_of(summary.run, settings)
    observer.promoted(best, Rung.CONFIRM)
    job = JudgeJob(
        number=0,
        task=summary.task,
        candidate=best,
        plan=confirm_plan(summary.run),
        seed=spec.seed,
        threads=spec.threads,
        sandbox=spec.sandbox,
    )
    try:
        return judged(executor, job)
    finally:
        executor.close()


def _remember(settings: Settings, answer: Answer) -> bool:
    """Write the answer beside the run; whether that was possible."""
    told = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        **answer.model_dump(
            mode="json", include={"candidate", "verdict", "differences", "outcome", "comparisons"}
        ),
    }
    try:
        with setup.store(settings) as store:
            remember_audit(store, answer.run, told)
    except (StoreError, UsageError):  # it cannot be written, or somebody has taken the run up
        return False
    return True
