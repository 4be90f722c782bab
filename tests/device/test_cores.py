"""Which cores the threads of kernels and baselines may use: each its own, or all, never one."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.evaluation import cores
from kernelwright.evaluation.census import Census
from kernelwright.evaluation.channel import Channel
from kernelwright.evaluation.environment import environment
from kernelwright.evaluation.guarded import Guarded
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.executors.local import LocalExecutor
from kernelwright.languages.cpp import Cpp
from kernelwright.records.outcome import Outcome
from kernelwright.tasks.load import load_task
from tests.device import judging
from tests.device.judging import RIGHT, body
from tests.device.test_oracle_rival import Ring, ask, bind

pytestmark = [
    pytest.mark.skipif(not shutil.which("g++"), reason="needs g++"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]

COUNT = """#include <sched.h>
static int cores() {
  cpu_set_t mine;
  sched_getaffinity(0, sizeof mine, &mine);
  return CPU_COUNT(&mine);
}"""
OF_A_THREAD = "int seen = 0; std::thread([&] { seen = cores(); }).join();"
OF_A_TEAM = """int seen = 1;
#pragma omp parallel reduction(max : seen)
seen = cores();"""


def counted(look: str, wanted: int, openmp: bool) -> str:
    """A kernel that fails unless its threads may use so many cores."""
    text = body(f"{look}\nif (seen != {wanted}) return 100 + seen;\n{RIGHT}", COUNT)
    return text if openmp else text.replace("#pragma omp parallel for", "")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def judged(home, threads, source, loop=judging.LOOP):
    with closing(LocalExecutor(threads=threads, cache=home, baselines=("loop",))) as executor:
        court = judging.Court(executor, judging.task(baseline=loop))
        return court.judge(source)


@pytest.mark.parametrize("openmp", [True, False], ids=["beside OpenMP", "alone"])
def test_threads_of_its_own_may_use_every_core(home, openmp):
    found = judged(home, 2, counted(OF_A_THREAD, 2, openmp))
    assert found.outcome is Outcome.PASSED, found.reason


def test_each_thread_of_openmp_is_bound_to_a_core(home):
    found = judged(home, 2, counted(OF_A_TEAM, 1, openmp=True))
    assert found.outcome is Outcome.PASSED, found.reason


def test_a_kernel_gets_as_many_cores_as_threads(home):
    found = judged(home, 1, counted(OF_A_THREAD, 1, openmp=False))
    assert found.outcome is Outcome.PASSED, found.reason


def test_a_plain_loop_with_threads_of_its_own_is_no_slow_baseline(home):
    loop = counted(OF_A_THREAD, 2, openmp=False)
    found = judged(home, 2, judging.LOOP, loop)
    assert found.outcome is Outcome.PASSED, found.reason


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (counted(OF_A_TEAM, 1, openmp=True), True),
        (counted(OF_A_THREAD, 1, openmp=True), False),
        (counted(OF_A_THREAD, 1, openmp=False), False),
        (counted("int seen = 1;", 1, openmp=False), False),
    ],
    ids=["OpenMP", "both", "threads", "one thread"],
)
def test_the_library_says_whether_its_threads_are_openmps(tmp_path, source, expected):
    built = Cpp("g++", tmp_path).build(make_candidate(source, "cpp"), entry="blend")
    assert built.library is not None, built.build.log
    assert cores.only_openmp(built.library) is expected


class Seated:
    """The cores of each thread of a numpy baseline that was bound to a task's reference."""

    def __init__(self, folder, source=None):
        ours, theirs = Channel.pair()
        process = Guarded(
            "kernelwright.evaluation.oracle.rival",
            theirs.fileno(),
            environment(2, folder, folder),
        )
        theirs.close()
        try:
            with Oracle() as oracle:
                ring = Ring(oracle, load_task("softmax", inspector=oracle.inspect))
                if source is not None:
                    changed = ring.task.reference.model_copy(update={"source": source})
                    ring.task = ring.task.model_copy(update={"reference": changed})
                assert bind(ours, ring, "numpy") == {"ok": True}
                assert ask(ours, {"do": "bind", "slots": ring.slots}) == {"ok": True}
            self.first = Census(process.pid).pid
            tasks = [int(path.name) for path in Path(f"/proc/{self.first}/task").iterdir()]
            self.cores = {task: os.sched_getaffinity(task) for task in tasks}
        finally:
            ours.close()
            process.kill()


def test_each_thread_of_numpys_blas_has_a_core_of_its_own(tmp_path):
    seated = Seated(tmp_path)
    own = seated.cores.pop(seated.first)
    assert len(own) == 1
    assert seated.cores
    assert all(len(one) == 1 and not one & own for one in seated.cores.values())


@pytest.mark.parametrize(
    "start",
    [
        "threading.Thread(target=int).start()",
        "_thread.start_new_thread(time.sleep, (9,))",
        "subprocess.run(['true'])",
    ],
)
def test_a_reference_that_starts_threads_is_not_held_to_one_core(tmp_path, start):
    source = f"""
import _thread, subprocess, threading, time

def softmax(xp, x):
    {start}
    shifted = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return shifted / xp.sum(shifted, axis=-1, keepdims=True)
"""
    found = Seated(tmp_path, source)
    assert len(found.cores[found.first]) == 2
