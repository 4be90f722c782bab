"""The evaluation that a build is: the draft rung, and the end of a look whose build fails."""

from kernelwright.devices import detect
from kernelwright.languages.base import BuildResult
from kernelwright.records.evaluation import Check, Evaluation
from kernelwright.records.job import JudgeJob


def draft_evaluation(job: JudgeJob, built: BuildResult) -> Evaluation:
    """What a build says of a candidate.

    Args:
        job: whose candidate was built.
        built: how it went.
    """
    return Evaluation(
        candidate=job.candidate.id,
        rung=job.plan.rung,
        outcome=built.outcome,
        reason=built.reason,
        evidence={"hint": built.hint} if built.hint else {},
        checks=(Check(name="build", outcome=built.outcome, seconds=built.build.seconds),),
        build=built.build,
        sandbox=built.sandbox,
        environment=detect.describe(job.threads),
        seconds=built.build.seconds,
        seed=job.seed,
    )
