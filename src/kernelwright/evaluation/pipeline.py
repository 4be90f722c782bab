"""Judge one built candidate at one rung: checks in order, then time; the first finding ends it."""

import time
from collections.abc import Callable
from typing import Any

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.devices.roofline import roofline
from kernelwright.errors import JudgeError
from kernelwright.evaluation import stages
from kernelwright.evaluation.bench import ANSWER_SECONDS, Bench
from kernelwright.evaluation.cases import Cases
from kernelwright.evaluation.entrants import Entrant
from kernelwright.evaluation.places import Places
from kernelwright.evaluation.trial import LEAST_DEADLINE, Trial
from kernelwright.evaluation.worker import Worker
from kernelwright.records.evaluation import Evaluation, Sandbox
from kernelwright.records.job import JudgeJob
from kernelwright.records.measurement import Comparison, Measurement, Roofline
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Case
from kernelwright.tasks import edges
from kernelwright.timing.protocol import Pairs, compare, comparison
from kernelwright.timing.statistics import summarize

COMPARE_SECONDS = 20.0


def judge(job: JudgeJob, bench: Bench, entrant: Entrant) -> Evaluation:
    """The verdict on one candidate.

    Args:
        job: the candidate and the plan of the rung.
        bench: opened for the job's task.
        entrant: the built candidate.

    Raises:
        PrerequisiteError: the baseline that the job names cannot be had here.
        TaskError: the reference or a baseline fails.
        JudgeError: the machinery broke.
    """
    bench.against(job.against)  # before the candidate comes: it may have to be measured
    started = time.monotonic()
    bench.oracle.until = started + ANSWER_SECONDS
    trial: Trial | None = None
    found: Finding | None = None
    measurements: list[Measurement] = []
    comparisons: list[Comparison] = []

    def settle() -> Worker:
        worker = entrant.start()
        try:
            worker.load(entrant.load, LEAST_DEADLINE)
        except Rejected:
            worker.close()
            raise
        return worker

    try:
        deadline = bench.deadline(bench.cases.timed[0])
        trial = Trial(bench.task, entrant.start(), bench.answers, deadline)
        with trial.check("load"):
            trial.load(entrant.load)
        cases = _cases(job, bench)
        for stage in job.plan.stages:
            stages.run(stage, trial, cases, bench.private)
        for case in _timed(job, bench):
            with trial.check(f"time {case.workload}"):
                measured, compared = _time(job, bench, trial, case, settle, entrant.noop_us)
            measurements.append(measured)
            comparisons += compared
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
    return Evaluation(
        candidate=job.candidate.id,
        rung=job.plan.rung,
        outcome=Outcome.PASSED if found is None else found.outcome,
        reason="" if found is None else found.reason,
        evidence={**evidence, **_tightened(bench)},
        checks=tuple(trial.checks) if trial else (),
        measurements=tuple(measurements) if passed else (),
        comparisons=tuple(comparisons) if passed else (),
        roofline=_roofline(bench, measurements) if passed else None,
        sandbox=trial.worker.sandbox if trial else Sandbox(),
        environment=bench.session().environment,
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


def _time(
    job: JudgeJob,
    bench: Bench,
    trial: Trial,
    case: Case,
    settle: Callable[[], Worker],
    noop_us: float,
) -> tuple[Measurement, list[Comparison]]:
    """Time one workload against the baseline to beat, and against the others if asked."""
    main = bench.against(job.against)
    others = [name for name in bench.times if name != main]
    looks = {main: job.plan.looks}
    if job.plan.all_baselines:
        looks |= dict.fromkeys(others, job.plan.looks[:1])
    measured: Measurement | None = None
    compared: list[Comparison] = []
    for name, numbers in looks.items():
        places = Places(job, bench, trial, case, name, numbers, settle)
        pairs, record = _against(job, bench, places, name, numbers)
        compared.append(record)
        measured = measured or Measurement(
            workload=case.workload,
            time_us=summarize(pairs.candidate_us),
            noop_us=noop_us,
            clocks=places.clocks.medians(),
            samples_us=tuple(pairs.candidate_us) if job.keep_samples else (),
        )
    if measured is None:
        raise JudgeError("a workload was to be timed against nothing")
    return measured, compared


def _against(
    job: JudgeJob, bench: Bench, places: Places, name: str, looks: tuple[int, ...]
) -> tuple[Pairs, Comparison]:
    """Pair the candidate with one baseline on one workload."""
    deadline = time.monotonic() + COMPARE_SECONDS
    pairs, interval, decision, margin = compare(
        places,
        looks=looks,
        noise=bench.noises[bench.against(job.against)],
        seed=job.seed,
        placements=places.count,
        enough_time=lambda: time.monotonic() < deadline,
    )
    places.leave()
    return pairs, comparison(
        name,
        places.workload,
        pairs,
        interval,
        decision,
        margin,
        keep_samples=job.keep_samples,
    )


def _roofline(bench: Bench, measurements: list[Measurement]) -> Roofline | None:
    """The fraction of the roof on the main workload, where it was timed."""
    main = bench.cases.timed[0]
    for measured in measurements:
        if measured.workload == main.workload:
            return roofline(bench.floor(main), measured.time_us.median)
    return None
