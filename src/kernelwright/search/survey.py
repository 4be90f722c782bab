"""Measures a landscape through any executor; can be stopped and started again.

Every candidate climbs every rung until it fails: nothing is pruned, since a landscape that lacks
the losers cannot tell whether a search was right to drop them. Refuses to mix sessions of
different tasks, rungs or thread counts in one file; all looks are compared with the baseline that
was the strongest when the file was begun.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from kernelwright.errors import UsageError
from kernelwright.executors.base import Executor
from kernelwright.proposers.base import seed_from
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.records.task import Task
from kernelwright.search.inputs import capacities, lane
from kernelwright.search.landscape import Landscape, append, head_line, load
from kernelwright.store.files import write_atomically

DIGITS = 6


def measure_landscape(
    task: Task,
    executor: Executor,
    candidates: Iterable[Candidate],
    plans: Sequence[RungPlan],
    path: Path,
    *,
    threads: int,
    seed: int = 0,
    progress: Callable[[int, Candidate], None] | None = None,
) -> Landscape:
    """Measure every candidate at every rung; what the file already holds is not measured again.

    Args:
        task: what to compute.
        executor: where; opened and closed here.
        candidates: the grid.
        plans: the rungs to record, ascending, draft first.
        path: the file, by custom ``*.jsonl.gz``.
        threads: threads of a kernel.
        seed: seed of the jobs.
        progress: told how many candidates are done, and the last of them.

    Raises:
        UsageError: the file holds a landscape of something else.
        JudgeError: the machinery broke; what was measured is in the file.
    """
    old = _resumed(path, task, plans, threads)
    todo = [one for one in candidates if old is None or one.id not in old.candidates]
    session = executor.open(task)
    try:
        if old is None:
            old = Landscape(task, session, tuple(plans), threads)
            append(path, [head_line(old)])
        survey = _Survey(old, executor, path, seed)
        for done, candidate in enumerate(survey.measure(deque(todo)), start=len(old.candidates)):
            if progress:
                progress(done, candidate)
    finally:
        executor.close()
    return load(path)


def measure_truth(
    executor: Executor,
    path: Path,
    *,
    best: int,
    places: int,
    seed: int = 0,
    progress: Callable[[int, Candidate], None] | None = None,
) -> Landscape:
    """Look again, over several places, at the candidates that seemed best.

    The best of many noisy looks is mostly luck; who is compared with it would chase that luck.
    The look is kept as the candidate's confirm. What the file already holds is kept.

    Args:
        executor: opened and closed here.
        path: a measured landscape.
        best: how many candidates.
        places: fresh processes and buffers a look.
        seed: seed of the jobs.
        progress: told how many are done, and the last of them.
    """
    landscape = load(path)
    plan = next(plan for plan in landscape.plans if plan.rung is Rung.FULL)
    plan = plan.model_copy(update={"placements": places})
    speedups = {
        one: quality
        for one in landscape.candidates
        if (quality := landscape.speedup(one, Rung.FULL)) is not None
    }
    chosen = sorted(speedups, key=lambda one: -speedups[one])[:best]
    executor.open(landscape.task)
    try:
        for number, one in enumerate(chosen):
            if (one, Rung.CONFIRM) in landscape.looks:
                continue
            candidate = landscape.candidates[one]
            job = JudgeJob(
                number=number,
                task=landscape.task,
                candidate=candidate,
                plan=plan,
                seed=seed_from(seed, one, "truth"),
                threads=landscape.threads,
                keep_samples=True,
            )
            executor.submit(job)
            while (answer := executor.wait()) is None:
                pass
            look = answer.evaluation.model_copy(update={"rung": Rung.CONFIRM})
            append(path, [_line(candidate, [_rounded(look)])])
            if progress:
                progress(number, candidate)
    finally:
        executor.close()
    return load(path)


class _Survey:
    """Candidates in flight, and the file they go to."""

    def __init__(self, landscape: Landscape, executor: Executor, path: Path, seed: int) -> None:
        self._landscape, self._executor, self._path, self._seed = landscape, executor, path, seed
        self._number = 0
        self._jobs: dict[int, tuple[Candidate, Rung]] = {}
        self._looks: dict[str, list[Evaluation]] = {}
        self._sources = {_digest(one.source) for one in landscape.candidates.values()}
        self._plans = {plan.rung: plan for plan in landscape.plans}

    def measure(self, todo: deque[Candidate]) -> Iterable[Candidate]:
        """Measure them all; each as it is done."""
        ready: deque[tuple[Candidate, Rung]] = deque()
        rungs = sorted(self._plans)
        free = capacities(self._executor)
        while todo or ready or self._jobs:
            # Built candidates wait for the device: more of them than it can hold help nobody.
            while todo and free["draft"] and len(ready) < 2 * free["draft"] + 2:
                free["draft"] -= 1
                self._submit(todo.popleft(), rungs[0])
            while ready and free["look"]:
                free["look"] -= 1
                self._submit(*ready.popleft())
            answer = self._executor.wait()
            if answer is None:
                continue
            candidate, rung = self._jobs.pop(answer.number)
            free[lane(rung)] += 1
            self._looks[candidate.id].append(_rounded(answer.evaluation))
            higher = [later for later in rungs if later > rung]
            if higher and answer.evaluation.passed:
                ready.appendleft((candidate, higher[0]))
                continue
            self._keep(candidate)
            yield candidate

    def _submit(self, candidate: Candidate, rung: Rung) -> None:
        self._number += 1
        timed = Rung.DRAFT < rung < Rung.CONFIRM
        self._jobs[self._number] = (candidate, rung)
        self._looks.setdefault(candidate.id, [])
        self._executor.submit(
            JudgeJob(
                number=self._number,
                task=self._landscape.task,
                candidate=candidate,
                plan=self._plans[rung],
                seed=seed_from(self._seed, candidate.id, rung),
                threads=self._landscape.threads,
                keep_samples=True,
                against=self._landscape.session.strongest if timed else "",
            )
        )

    def _keep(self, candidate: Candidate) -> None:
        digest = _digest(candidate.source)
        lines: list[dict[str, Any]] = []
        if digest not in self._sources:
            self._sources.add(digest)
            lines.append({"source": digest, "text": candidate.source})
        append(self._path, [*lines, _line(candidate, self._looks.pop(candidate.id))])


def _resumed(path: Path, task: Task, plans: Sequence[RungPlan], threads: int) -> Landscape | None:
    if not path.exists():
        return None
    old = load(path)
    if (old.task, old.plans, old.threads) != (task, tuple(plans), threads):
        raise UsageError(
            f"{path} holds a landscape of another task, other rungs or other threads",
            hint="choose another file",
        )
    # A member torn by a crash would hide everything appended after it.
    fresh = path.with_name(path.name + ".mended")
    fresh.unlink(missing_ok=True)
    append(fresh, [head_line(old), *_all_lines(old)])
    write_atomically(path, fresh.read_bytes())
    fresh.unlink()
    return old


def _all_lines(landscape: Landscape) -> Iterable[dict[str, Any]]:
    for text in dict.fromkeys(one.source for one in landscape.candidates.values()):
        yield {"source": _digest(text), "text": text}
    for candidate in landscape.candidates.values():
        looks = [look for (owner, _), look in landscape.looks.items() if owner == candidate.id]
        yield _line(candidate, looks)


def _line(candidate: Candidate, looks: Sequence[Evaluation]) -> dict[str, Any]:
    named = candidate.model_dump(mode="json") | {"source": _digest(candidate.source)}
    return {"candidate": named, "looks": [look.model_dump(mode="json") for look in looks]}


def _rounded(evaluation: Evaluation) -> Evaluation:
    change = {
        "comparisons": tuple(
            item.model_copy(update={"samples": _round(item.samples)})
            for item in evaluation.comparisons
        ),
        "measurements": tuple(
            item.model_copy(update={"samples_us": _round(item.samples_us)})
            for item in evaluation.measurements
        ),
    }
    return evaluation.model_copy(update=change)


def _round(samples: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(f"{sample:.{DIGITS}g}") for sample in samples)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
