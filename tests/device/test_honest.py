"""A drawn sample of honest kernels, experts among them, passes the screen rung in a real judge.

All of them at the full rung: `scripts/bench honest`.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from importlib.util import find_spec

import pytest

from kernelwright.executors.local import LocalExecutor
from kernelwright.records.job import JudgeJob
from kernelwright.records.outcome import Outcome
from kernelwright.records.rung import Rung
from kernelwright.search.rungs import plans_for
from kernelwright.tasks import suites
from tests.honest import corpus

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")
NEEDS_TORCH = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")
SEED = 20260301
DRAWN = {"cpp": (6, 4), "torch": (5, 2)}
"""Of each language: of how many tasks, and how many kernels of each."""


class Courts:
    """One session at a time, kept while the task stays the same."""

    def __init__(self, cache):
        self.cache, self.name = cache, ""
        self.executor: LocalExecutor | None = None

    def judge(self, kernel: corpus.Kernel):
        task = corpus.task_of(kernel.task)
        if self.executor is None or self.name != kernel.task:
            self.close()
            self.executor = LocalExecutor(
                threads=2,
                cache=self.cache,
                baselines=corpus.rivals_of(kernel.task, ("loop",)),
            )
            self.executor.open(task)
            self.name = kernel.task
        job = JudgeJob(
            number=1,
            task=task,
            candidate=corpus.candidate(kernel),
            plan=plans_for("normal")[Rung.SCREEN],
            seed=1,
            threads=2,
        )
        self.executor.submit(job)
        completion = self.executor.wait(120)
        assert completion is not None
        return completion.evaluation

    def close(self):
        if self.executor is not None:
            self.executor.close()
            self.executor = None


@pytest.fixture(scope="module")
def courts(tmp_path_factory):
    with closing(Courts(tmp_path_factory.mktemp("cache"))) as found:
        yield found


def drawn():
    found = []
    for language, (tasks, each) in DRAWN.items():
        for one in corpus.sample(SEED, tasks, each, language):
            why = corpus.REJECTED.get(one.name)
            marks = [NEEDS_TORCH] if language == "torch" else []
            if why:
                marks.append(pytest.mark.xfail(strict=True, raises=AssertionError, reason=why))
            found.append(pytest.param(one, id=one.name, marks=marks))
    return found


@pytest.mark.parametrize("kernel", drawn())
def test_an_honest_kernel_passes(courts, kernel):
    found = courts.judge(kernel)
    assert found.outcome is Outcome.PASSED, (found.reason, found.evidence)
    assert found.measurements


def test_the_corpus_is_large_and_covers_every_core_task():
    own = [one for one in corpus.kernels() if not one.ships and one.language == "cpp"]
    assert len(own) >= 66
    assert set(suites.suites()["core"]) <= {one.task for one in own}


def test_python_is_spoken_in_many_tasks_and_seldom_to_call_one_operator():
    own = [one for one in corpus.kernels() if one.language == "torch"]
    assert len(own) >= 70
    assert len({one.task for one in own}) >= 20
    assert len([one for one in own if one.wraps]) <= 15
    assert any("class ModelNew" in one.path.read_text() for one in own)


def test_no_kernel_is_there_twice():
    every = corpus.kernels()
    assert len({one.name for one in every}) == len(every)
    own = [one for one in every if not one.ships]
    assert len({one.path.read_text() for one in own}) == len(own)
