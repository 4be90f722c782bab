"""Six KernelBench-style files, each with a good candidate and with bad ones."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.executors.local import LocalExecutor
from kernelwright.records.outcome import Outcome
from kernelwright.tasks.load import load_task
from tests.device import judging

pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")

FILES = Path(__file__).parents[2] / "examples" / "kernelbench"
# Per file: a change that a careless writer could make, and how it must end.
BAD = {
    "conv_norm": [
        ("norm_running_var[k] + 1e-5f", "1.0f", Outcome.WRONG_VALUES),
        (" + norm_bias[k]", "", Outcome.WRONG_VALUES),
        ("value < 0 ? 0 : value", "value", Outcome.WRONG_VALUES),
    ],
    "gelu_chain": [
        ("0.044715f", "0.0447f", Outcome.WRONG_VALUES),
        ("256 * 1024", "256 * 1023", Outcome.WRONG_VALUES),
        ("std::tanh(inner)", "inner / (1.0f + std::fabs(inner))", Outcome.WRONG_VALUES),
    ],
    "pooled_scale": [
        ("float(scale)", "1.0f", Outcome.WRONG_VALUES),
        ("s < S", "s < S - 1", Outcome.WRONG_VALUES),
    ],
    "row_energy": [
        ("total / N", "total / (N - 1)", Outcome.WRONG_VALUES),
        ("out[i]", "out[i + 1]", Outcome.OUT_OF_BOUNDS),
    ],
    "row_extremes": [
        ("best[i] = top", "best[i] = top + (i == 7)", Outcome.WRONG_VALUES),
        ("best[i] = top;", "", Outcome.WRONG_VALUES),
        (" - row[top]", "", Outcome.NUMERICALLY_UNSTABLE),
    ],
    "two_layers": [
        ("sum < 0 ? 0 : sum", "sum", Outcome.WRONG_VALUES),
        (" + fc1_bias[h]", "", Outcome.WRONG_VALUES),
        (" + fc2_bias[c]", "", Outcome.WRONG_VALUES),
    ],
}


@pytest.fixture(scope="module", params=sorted(BAD))
def trial(request, tmp_path_factory):
    with Oracle() as oracle:
        task = load_task(FILES / f"{request.param}.py", inspector=oracle.inspect)
    cache = tmp_path_factory.getbasetemp() / "kernelbench"
    executor = LocalExecutor(threads=2, cache=cache, baselines=("eager",))
    source = (FILES / "kernels" / f"{request.param}.cpp").read_text()
    yield request.param, judging.Court(executor, task), source
    executor.close()


def test_the_good_candidate_passes_every_stage_and_is_compared_with_the_model(trial):
    name, court, source = trial
    found = court.judge(source, judging.FULL)
    assert found.outcome is Outcome.PASSED, (name, found.reason, found.evidence)
    assert [one.baseline for one in found.comparisons] == ["eager"]


def test_bad_candidates_are_rejected_for_the_right_reason(trial):
    name, court, source = trial
    for old, new, outcome in BAD[name]:
        assert old in source
        found = court.judge(source.replace(old, new), judging.FULL)
        assert found.outcome is outcome, (name, new, found.reason, found.evidence)
