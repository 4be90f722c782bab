"""Repeat everything about a run's best from its stored source, in clean processes.

The source must be what its id says, and the stored decisions are replayed. The kernel is built
anew and judged by a fresh verifier: every stage, fresh seeds, hidden shapes, every baseline. What
was stored and what was found now stand side by side. The verdict is "holds" where it passes and,
against each baseline, the intervals overlap or the decision is the same; else "differs", and it
says what. The run's own number stays as it is: to replace it, confirm. RUN is an id, the
beginning of one, or "latest". Exit code 3: it does not hold.

With --task TASK --claim 2.3x, a FILE may stand in its place: it is confirmed, and what is claimed
of it is set beside what was measured against the strongest baseline. "confirmed": the claim lies
within the interval or above it by the margin (a tenth at most), and the interval is narrow beside
it, or the kernel is faster; "refuted": the claim lies above the interval by more than the margin,
or the kernel is rejected; else "undecided". Exit code 3: it is refuted.
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
from kernelwright.verbs import base, entrants, evaluate, setup
from kernelwright.verbs.audit_answer import AuditAnswer
from kernelwright.verbs.claim import ClaimedAnswer, claimed_speedup


class Request(base.Request):
    """Which run."""

    run: Annotated[str, base.Positional("RUN|FILE")] = Field(
        description="id of a run, its beginning, or latest; a file with --claim and --task"
    )
    claim: str | None = Field(None, description="speedup that is claimed of a file, such as 2.3x")
    task: str | None = Field(None, description="what that file computes")
    threads: int | None = Field(
        None, ge=0, description="threads of that file's kernel; 0: every core"
    )
    store: str | None = Field(None, description="file or database URL that keeps every run")


class Answer(AuditAnswer):
    """Whether what the run says of its best holds."""


class ClaimAnswer(ClaimedAnswer):
    """Whether what is claimed of a file is what was measured."""


def run(request: Request, *, observer: Observer | None = None) -> Answer | ClaimAnswer:
    """Audit, with the threads, sandbox, compiler and seed that the run began with.

    Raises:
        UserError: something is wrong or missing that the user can mend.
        JudgeError: the machinery broke; there is no verdict.
    """
    if entrants.is_file(request.run):
        return _claimed(request)
    if request.claim is not None or request.task is not None:
        raise UsageError(
            f"{request.run!r} names a run, which makes its own claim for its own task",
            hint="leave out --claim and --task, or name a file",
        )
    if request.threads is not None:
        raise UsageError(
            f"a run is audited with the threads that it began with: {request.run}",
            hint="leave out --threads",
        )
    settings = request.settings()
    with setup.store(settings, writable=False) as store:
        summary = summarise(store, store.run(request.run).id)
        best, then = _claim(summary)
        replayed = replay_run(store, summary.run.id)
    genuine = exact_id(best.language, best.source, best.tunables) == best.id
    now = _again(summary, best, settings, observer or Observer()) if genuine else None
    answer = Answer.of(summary, best, then, now, replayed)
    return answer.model_copy(update={"remembered": _remember(settings, answer)})


def _claimed(request: Request) -> ClaimAnswer:
    """The verdict on what somebody says of a file.

    Raises:
        UsageError: it is not said what, or of which task.
    """
    if request.claim is None or request.task is None:
        raise UsageError(
            f"{request.run} is a file: what is claimed of it, for which task?",
            hint=f"kernelwright audit {request.run} --task TASK --claim 2.3x; "
            f"kernelwright evaluate TASK {request.run} --rung confirm judges it without a claim",
        )
    claim = claimed_speedup(request.claim)
    asked = evaluate.Request.of(
        task=request.task, file=request.run, rung="confirm", threads=request.threads
    )
    return ClaimAnswer.of(request.task, claim, evaluate.run(asked))


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
        with setup.store(settings, new=False) as store:
            remember_audit(store, answer.run, told)
    except (StoreError, UsageError):  # it cannot be written, or somebody has taken the run up
        return False
    return True
