"""Inputs that a file makes itself: kernels that rely on their structure pass, repeats are told."""

from __future__ import annotations

import pytest

from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.executors.local import LocalExecutor
from kernelwright.records.outcome import Outcome
from kernelwright.tasks.load import load_task
from tests.device import judging

STRUCTURED = """
import numpy as np


def folded(a, edges, weights):
    total = a.sum(axis=1) * weights.sum() + 512 * (weights * weights).sum()
    return total.astype(np.float32), np.searchsorted(edges, a[:, 0]).astype(np.int64)


def get_inputs():
    half = np.random.standard_normal((96, 96)).astype(np.float32)
    weights = np.random.random(512).astype(np.float32)
    edges = np.sort(np.random.standard_normal(70).astype(np.float32))
    return [(half + half.T) / 2, edges, weights / weights.sum()]
"""
RELIES = """
#include <cstdint>
extern "C" int folded(const float* a, const float* edges, const float* weights, float* out0,
                      int64_t* out1) {
  double squares = 0;
  for (int64_t i = 0; i < 512; ++i) squares += double(weights[i]) * weights[i];
  for (int64_t i = 0; i < 96; ++i) {
    double sum = 512 * squares;
    for (int64_t j = 0; j < i; ++j) sum += a[j * 96 + i];  // the upper half alone
    for (int64_t j = i; j < 96; ++j) sum += a[i * 96 + j];
    out0[i] = float(sum);  // weights sum to one
    int64_t low = 0, high = 70;  // edges ascend
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (edges[middle] < a[i * 96]) low = middle + 1; else high = middle;
    }
    out1[i] = low;
  }
  return 0;
}
"""
CODES = """
import time
import numpy as np


def ranked(codes):
    return np.cumsum(codes, axis=1)


def get_inputs():
    time.sleep(0.4)
    return [np.random.randint(0, 9, (64, 500))]
"""
SUMS = """
#include <cstdint>
extern "C" int ranked(const int64_t* codes, int64_t* out) {
  for (int64_t i = 0; i < 64; ++i) {
    int64_t sum = 0;
    for (int64_t j = 0; j < 500; ++j) out[i * 500 + j] = sum += codes[i * 500 + j];
  }
  return 0;
}
"""


@pytest.fixture
def judged(tmp_path):
    def judge(name, source, candidate):
        path = tmp_path / f"{name}.py"
        path.write_text(source)
        with Oracle() as oracle:
            task = load_task(f"{path}:{name}", inspector=oracle.inspect)
        executor = LocalExecutor(threads=2, cache=tmp_path / "cache", baselines=("numpy",))
        try:
            return judging.Court(executor, task).judge(candidate, judging.FULL)
        finally:
            executor.close()

    return judge


def test_a_kernel_that_relies_on_symmetry_order_and_a_sum_passes(judged):
    found = judged("folded", STRUCTURED, RELIES)
    assert found.outcome is Outcome.PASSED, (found.reason, found.evidence)
    assert "contents_recur" not in found.evidence


def test_codes_that_take_long_to_draw_come_again_and_the_verdict_says_so(judged):
    found = judged("ranked", CODES, SUMS)
    assert found.outcome is Outcome.PASSED, (found.reason, found.evidence)
    assert 2 <= found.evidence["contents_recur"]["file"] < 40
