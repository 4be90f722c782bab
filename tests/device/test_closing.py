"""Closed in the middle of anything, an executor leaves no process and no folder."""

from __future__ import annotations

import os
import tempfile
import threading
import time

import pytest

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.errors import JudgeError, KernelwrightError
from kernelwright.executors.local import LocalExecutor
from kernelwright.records.job import JudgeJob
from tests.device import judging
from tests.device.judging import RIGHT, body
from tests.device.leftovers import Leftovers

SLOW_BUILD = """
template <int N, int M> struct S { enum { v = S<N - 1, M>::v + S<N - 1, M + 1>::v }; };
template <int M> struct S<0, M> { enum { v = M }; };
static int x = S<900, 0>::v;
"""
HANGS = body("for (volatile int i = 0;; i = 0) {}")
FORKS = body(f"{RIGHT} if (fork() == 0) {{ setsid(); for (;;) pause(); }} for (;;) pause();")


@pytest.fixture
def left(tmp_path, monkeypatch):
    folder = tmp_path / "tmp"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", os.fspath(folder))
    with Leftovers(folder) as found:
        yield found


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def opened(cache):
    """Opens a session without what only a verdict needs, and with what the first has found."""
    seen = []

    def start(executor):
        known = seen[0] if seen else None
        seen.append(executor.open(judging.task(), known, controls=False).sensitivity)

    return start


def job(number, source, plan):
    return JudgeJob(number=number, task=judging.task(), candidate=make_candidate(source, "cpp"),
                    plan=plan, seed=number, threads=2)  # fmt: skip


JOBS = {
    "building": [(SLOW_BUILD + judging.LOOP, judging.DRAFT)],
    "loading": [(body(RIGHT, "__attribute__((constructor)) void f() { for (;;) pause(); }"),
                 judging.SCREEN)],
    "calling": [(HANGS, judging.SCREEN)],
    "calling with children": [(FORKS, judging.SCREEN)],
    "timing": [(judging.LOOP, judging.FULL)],
    "confirming": [(judging.LOOP, judging.CONFIRM)],
    "much at once": [(judging.LOOP + f"//{n}\n", plan) for n in range(4)
                     for plan in (judging.DRAFT, judging.SCREEN, judging.CONFIRM)],
}  # fmt: skip


DELAYS = [0.0, 0.2, 0.7, 2.0]
ALIKE_AT_ONCE = {"loading", "calling", "calling with children", "confirming"}
"""Looks of which nothing has begun at a delay of nought, as of `timing`."""


@pytest.mark.parametrize(
    ("moment", "delay"),
    [(moment, delay) for moment in JOBS for delay in DELAYS[moment in ALIKE_AT_ONCE :]],
)
def test_closing_with_work_in_flight(left, cache, opened, moment, delay):
    executor = LocalExecutor(threads=2, cache=cache, baselines=("loop",))
    opened(executor)
    for number, (source, plan) in enumerate(JOBS[moment]):
        executor.submit(job(number, source, plan))
    time.sleep(delay)
    began = time.monotonic()
    executor.close()
    assert time.monotonic() - began < 20
    assert left.found() == []
    with pytest.raises(JudgeError, match="was closed"):
        executor.wait(0.1)
    with pytest.raises(JudgeError, match="was closed"):
        executor.submit(job(99, judging.LOOP, judging.DRAFT))
    executor.close()


@pytest.mark.parametrize("delay", [0.0, 0.1, 0.4, 1.0, 2.0])
def test_closing_while_it_opens(left, tmp_path, delay):
    executor = LocalExecutor(threads=2, cache=tmp_path / "cache", baselines=("loop", "numpy"))
    problems = []

    def opening():
        try:
            executor.open(judging.task())
        except (KernelwrightError, RuntimeError) as problem:
            problems.append(problem)

    thread = threading.Thread(target=opening)
    thread.start()
    time.sleep(delay)
    executor.close()
    thread.join(30)
    assert not thread.is_alive()
    assert left.found() == []
    assert all(isinstance(one, KernelwrightError) for one in problems)


def test_somebody_who_waits_is_told(left, cache, opened):
    executor = LocalExecutor(threads=2, cache=cache, baselines=("loop",))
    opened(executor)
    executor.submit(job(1, HANGS, judging.SCREEN))
    problems = []

    def waiting():
        try:
            executor.wait(None)
        except JudgeError as problem:
            problems.append(problem)

    thread = threading.Thread(target=waiting)
    thread.start()
    time.sleep(0.5)
    executor.close()
    thread.join(30)
    assert not thread.is_alive()
    assert len(problems) == 1
    assert left.found() == []


def test_impatience_does_not_leave_more_behind(left, cache, opened, monkeypatch):
    executor = LocalExecutor(threads=2, cache=cache, baselines=("loop",))
    opened(executor)
    executor.submit(job(1, HANGS, judging.SCREEN))
    time.sleep(0.5)
    real, calls = executor._judges.kill, []

    def again():
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        real()

    monkeypatch.setattr(executor._judges, "kill", again)
    with pytest.raises(KeyboardInterrupt):
        executor.close()
    assert left.found() == []


def test_a_verifier_that_broke_is_gone_and_the_next_session_has_another(left, cache):
    executor = LocalExecutor(threads=2, cache=cache, baselines=("loop",))
    court = judging.Court(executor, judging.task())
    first = executor._judge
    # A question whose answer nobody waited for.
    first._channel.send({"do": "judge", "job": {}, "library": "", "number": "old"})
    with pytest.raises(JudgeError, match="another request"):
        court.judge(judging.LOOP)
    assert first._process.poll() is not None
    with pytest.raises(JudgeError):
        court.judge(judging.LOOP)
    executor.open(judging.task())
    assert court.judge(judging.LOOP).passed
    executor.close()
    assert left.found() == []
