"""A small task and the means to judge a source text for it."""

from __future__ import annotations

from typing import Literal

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.records.job import JudgeJob
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.records.task import Task

REFERENCE = """
def blend(xp, x, s, alpha):
    shifted = x - xp.max(x, axis=-1, keepdims=True)
    return alpha * xp.exp(shifted) + s[:, None], xp.sum(x * x, axis=-1)
"""
LOOP = """
#include <cmath>
#include <cstdint>
extern "C" int blend(const float* x, const float* s, float* y, float* q, float alpha,
                     int64_t M, int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    float top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < N; ++j)
      if (x[i * N + j] > top || x[i * N + j] != x[i * N + j]) top = x[i * N + j];
    for (int64_t j = 0; j < N; ++j) {
      y[i * N + j] = alpha * std::exp(x[i * N + j] - top) + s[i];
      sum += x[i * N + j] * x[i * N + j];
    }
    q[i] = sum;
  }
  return 0;
}
"""
HEAD = """
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <sys/wait.h>
"""
SIGNATURE = (
    'extern "C" int blend(const float* x, const float* s, float* y, float* q, float alpha, '
    "int64_t M, int64_t N)"
)
RIGHT = "honest(x, s, y, q, alpha, M, N);"
UNSHIFTED = f"""{RIGHT}
for (int64_t i = 0; i < M; ++i) {{
  float top = -INFINITY;
  for (int64_t j = 0; j < N; ++j) top = std::fmax(top, x[i * N + j]);
  for (int64_t j = 0; j < N; ++j)
    y[i * N + j] = alpha * (std::exp(x[i * N + j]) / std::exp(top)) + s[i];
}}"""
"""Right on ordinary contents, and infinite where an exponential is."""


def body(text: str, before: str = "") -> str:
    """A candidate whose entry has this body; ``honest(...)`` is the plain loop."""
    loop = LOOP.replace('extern "C" int blend', "static int honest")
    return f"{HEAD}{loop}\n{before}\n{SIGNATURE} {{\n{text}\nreturn 0; }}\n"


def task(**changes) -> Task:
    """Two outputs, a scalar, a reduction and an exponential, in a fifth of a megabyte."""
    fields = {
        "name": "blend",
        "entry": "blend",
        "axes": {"M": "free", "N": "free"},
        "inputs": [
            {"name": "x", "dtype": "float32", "shape": ["M", "N"]},
            {"name": "s", "dtype": "float32", "shape": ["M"]},
        ],
        "outputs": [
            {"name": "y", "dtype": "float32", "shape": ["M", "N"]},
            {"name": "q", "dtype": "float32", "shape": ["M"]},
        ],
        "scalars": [{"name": "alpha", "dtype": "float32", "value": 1.5}],
        "workloads": [
            {"name": "small", "device": "cpu", "role": "smoke", "axes": {"M": 7, "N": 33}},
            {"name": "main", "device": "cpu", "role": "main", "axes": {"M": 64, "N": 512}},
        ],
        "reference": {"kind": "array", "entry": "blend", "source": REFERENCE},
        "baseline": LOOP,
    }
    return Task.model_validate(fields | changes)


SCREEN = RungPlan(
    rung=Rung.SCREEN,
    stages=("smoke", "declared", "stability"),
    workloads="main",
    looks=(12,),
    checked_least=3,
)
FULL = RungPlan(
    rung=Rung.FULL,
    stages=("smoke", "declared", "stability", "repeats", "edges", "timed_stability"),
    workloads="all",
    looks=(12,),
    checked_least=3,
)
CONFIRM = RungPlan(
    rung=Rung.CONFIRM,
    stages=(
        "smoke",
        "declared",
        "stability",
        "repeats",
        "edges",
        "timed_stability",
        "timed_repeats",
        "hidden",
    ),
    workloads="all",
    looks=(12,),
    checked_least=3,
    placements=3,
    all_baselines=True,
)
SMOKE = RungPlan(rung=Rung.SMOKE, stages=("smoke",), workloads="none", looks=())
DRAFT = RungPlan(rung=Rung.DRAFT, stages=(), workloads="none", looks=())


class Court:
    """An executor opened for one task, with one call a verdict."""

    def __init__(self, executor, found: Task) -> None:
        self.executor, self.task = executor, found
        self.session = executor.open(found)
        self.number = 0

    def judge(
        self,
        source: str,
        plan: RungPlan = SCREEN,
        sandbox: Literal["auto", "require", "off"] = "auto",
        against: str = "",
        language: str = "cpp",
        time_s: float | None = None,
    ):
        """The evaluation of one source at one rung."""
        self.number += 1
        job = JudgeJob(
            number=self.number,
            task=self.task,
            candidate=make_candidate(source, language),
            plan=plan,
            seed=self.number,
            threads=2,
            sandbox=sandbox,
            against=against,
            time_s=time_s,
        )
        self.executor.submit(job)
        completion = self.executor.wait(120)
        assert completion is not None
        assert completion.number == self.number
        return completion.evaluation
