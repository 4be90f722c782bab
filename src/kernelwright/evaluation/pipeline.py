"""Judge one built candidate at one rung: checks in order, then time; the first finding ends it.

Clocks that disagree are heard again in fresh processes before anybody is accused: on a busy machine
the word and the report wait for a core now and then, whereas hidden work is there every time.
"""

import math
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.devices.roofline import roofline
from kernelwright.evaluation import stages
from kernelwright.evaluation.bench import ANSWER_SECONDS, Bench
from kernelwright.evaluation.cases import Cases
from kernelwright.evaluation.compulsory import floor
from kernelwright.evaluation.entrant import Entrant
from kernelwright.evaluation.stopwatch import Stopwatch
from kernelwright.evaluation.trial import Trial
from kernelwright.records.evaluation import Evaluation, Sandbox
from kernelwright.records.job import JudgeJob
from kernelwright.records.measurement import Measurement, Roofline, hardest_first
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Case
from kernelwright.tasks import edges


def judge(
    job: JudgeJob, bench: Bench, entrant: Entrant, rival: Entrant | None = None
) -> Evaluation:
    """The verdict on one candidate.

    Args:
        job: the candidate and the plan of the rung.
        bench: opened for the job's task.
        entrant: the built candidate.
        rival: the job's other candidate, timed in the place of a baseline. What it does wrong ends
            the judging too, with ``side`` in the evidence.

    Raises:
        ControlError: the judge fails a control with the baseline that the job names.
        PrerequisiteError: that baseline cannot be had here.
        TaskError: the reference or a baseline fails.
        JudgeError: the machinery broke.
    """
    return with_clocks_heard_twice(lambda: _hear(job, bench, entrant, rival))


def with_clocks_heard_twice(hear: Callable[[], Evaluation]) -> Evaluation:
    """The verdict of ``hear``, or of a second hearing where clocks disagreed in the first.

    Args:
        hear: judges the candidate in processes of its own.
    """
    first = hear()
    if first.outcome is not Outcome.CLOCK_DISAGREEMENT:
        return first
    second = hear()
    seconds = first.seconds + second.seconds
    evidence = {**second.evidence, "clocks_heard_again": first.reason}
    spent = {"seconds": seconds, "device_seconds": seconds}
    return second.model_copy(update={"evidence": evidence, **spent})


def _hear(job: JudgeJob, bench: Bench, entrant: Entrant, rival: Entrant | None) -> Evaluation:
    bench.oracle.left = ANSWER_SECONDS
    against = bench.against(job.against)  # before the candidate comes: it may have to be measured
    started = time.monotonic()
    bench.oracle.left = ANSWER_SECONDS
    trial: Trial | None = None
    found: Finding | None = None
    watch: Stopwatch | None = None
    try:
        deadline = bench.deadline(bench.cases.timed[0])
        trial = Trial(bench.task, entrant.start(), bench.answers, deadline, settle=entrant.settle)
        with trial.check("load"):
            trial.load(entrant.load)
        cases = _cases(job, bench)
        for stage in job.plan.stages:
            stages.run(stage, trial, cases, bench.private)
        until = started + (math.inf if job.time_s is None else job.time_s)
        with closing(Stopwatch(job, bench, trial, entrant, rival, until)) as watch:
            timed = _timed(job, bench) if job.plan.looks else []
            for number, case in enumerate(timed):
                watch.add(case, len(timed) - number)
    except Rejected as rejection:
        found = rejection.finding
    finally:
        if trial is not None:
            trial.worker.close()
        if found is not None:
            bench.forget_buffers()
    spent = time.monotonic() - started
    passed = found is None
    evidence = found.evidence if found else trial.labels if trial else {}
    measurements = watch.measurements if watch and passed else []
    return Evaluation(
        candidate=job.candidate.id,
        rung=job.plan.rung,
        outcome=Outcome.PASSED if found is None else found.outcome,
        reason="" if found is None else found.reason,
        evidence={**evidence, **_tightened(bench)},
        checks=tuple(trial.checks) if trial else (),
        measurements=tuple(measurements),
        comparisons=hardest_first(watch.comparisons) if watch and passed else (),
        roofline=_roofline(bench, measurements) if passed else None,
        sandbox=trial.worker.sandbox if trial else Sandbox(),
        environment=bench.session().environment,
        controls=bench.controls.get(against, ()) if job.plan.looks else (),
        seconds=spent,
        device_seconds=spent,
        seed=job.seed,
    )


def _tightened(bench: Bench) -> dict[str, Any]:
    """That candidates are held to less than the task's own tolerance, where they are."""
    seen = bench.sensitivity
    if seen is None or seen.tightened_from is None:
        return {}
    before, after = seen.tightened_from.model_dump(), seen.tolerance.model_dump()
    return {"tolerance_tightened": {"from": before, "to": after}}


def _cases(job: JudgeJob, bench: Bench) -> Cases:
    known = bench.cases
    hidden: list[Case] = []
    if "hidden" in job.plan.stages:
        hidden = edges.hidden_cases(bench.task, "cpu", bench.answers.seed("hidden"))
    timed = _timed(job, bench)
    return Cases(known.smoke, timed, known.edge, hidden)


def _timed(job: JudgeJob, bench: Bench) -> list[Case]:
    match job.plan.workloads:
        case "none":
            return []
        case "smoke":
            return [bench.cases.smoke]
        case "main":
            return bench.cases.timed[:1]
        case _:
            return bench.cases.timed


def _roofline(bench: Bench, measurements: list[Measurement]) -> Roofline | None:
    """The fraction of the roof on the main workload, where it was timed."""
    main = bench.cases.timed[0]
    for measured in measurements:
        if measured.workload == main.workload:
            return roofline(floor(bench.task, main, bench.peaks), measured.time_us.median)
    return None
