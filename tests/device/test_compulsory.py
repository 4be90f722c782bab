"""Which inputs must be read, shown by the reference; and what the judge makes of such a time."""

from __future__ import annotations

import pytest

from kernelwright.devices import measured
from kernelwright.devices.measured import Peaks
from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.compulsory import Compulsory
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.executors.local import LocalExecutor
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import Task
from kernelwright.tasks import contract
from tests.device import judging

SLOW = Peaks(warm_read_gbps=1e-3, rate_gflops=1e-3, flush_bytes=8192, copy_gbps=1e-3,
             read_gbps=1e-3)  # fmt: skip
"""A machine on which whatever moves its data is faster than it could be."""
ROWS, WIDTH, LOOKED_UP = 4096, 32, 64
X_BYTES = 4 * ROWS * WIDTH


@pytest.fixture(scope="module")
def oracle():
    with Oracle() as started:
        yield started


def task(body, *inputs, shape=("M", "N"), **changes):
    """A task over x [4096, 32] whose reference is one expression."""
    names = ", ".join(["xp", "x", *(one["name"] for one in inputs)])
    fields = {
        "name": "f",
        "entry": "f",
        "axes": {"M": "free", "N": "free"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["M", "N"]}, *inputs],
        "outputs": [{"name": "y", "dtype": "float32", "shape": list(shape)}],
        "workloads": [
            {"name": "w", "device": "cpu", "role": "main", "axes": {"M": ROWS, "N": WIDTH}}
        ],
        "reference": {"kind": "array", "entry": "f", "source": f"def f({names}): return {body}\n"},
    }
    return Task.model_validate(fields | changes)


ROW_NUMBERS = {
    "name": "rows",
    "dtype": "int64",
    "shape": [LOOKED_UP],
    "values": {"kind": "integers", "low": 0, "high": ROWS},
}
NEEDED = {
    "each element": (task("2 * x"), True),
    "a sum of them": (task("xp.sum(x, axis=-1)", shape=("M",)), True),
    "a table of which few rows are looked up": (
        task("xp.take(x, rows, axis=0)", ROW_NUMBERS, shape=(LOOKED_UP, "N")),
        False,
    ),
    "the greatest, for which others do not matter": (
        task("xp.max(x, axis=-1)", shape=("M",)),
        False,
    ),
    "the first rows": (task("x[:64, :]", shape=(64, "N")), False),
    "an input that is not used": (task("0 * x + 3"), False),
}


@pytest.mark.parametrize("name", NEEDED)
def test_an_input_counts_where_its_elements_matter(oracle, name):
    found, needed = NEEDED[name]
    oracle.load(found)
    case = contract.resolve(found, found.workloads[0])
    seen = Compulsory(Answers(found, oracle, 5), SLOW).implausible(case, 1e-3)
    assert seen is not None  # the outputs alone take longer
    assert (seen.evidence["compulsory_bytes"] >= X_BYTES + 4) is needed


def test_an_honest_time_asks_nothing():
    found = task("2 * x")
    case = contract.resolve(found, found.workloads[0])
    peaks = Peaks(warm_read_gbps=50.0, rate_gflops=50.0, flush_bytes=8192)
    assert Compulsory(Answers(found, None, 5), peaks).implausible(case, 100.0) is None


def test_a_proven_minimum_counts_in_types_of_the_measured_rate_only():
    peaks = Peaks(warm_read_gbps=1e6, rate_gflops=1.0, flush_bytes=1 << 40)
    proven = {"work": {"min_flops": "2 * M * N"}}
    for changes, judged in (({}, True), ({"precision": ["bfloat16"]}, False)):
        found = task("2 * x", **proven, **changes)
        case = contract.resolve(found, found.workloads[0])
        answers = Answers(found, None, 5)
        compulsory = Compulsory(answers, peaks)
        compulsory._bytes["w"] = 0
        assert (compulsory.implausible(case, 100.0) is not None) is judged


@pytest.fixture(scope="module")
def court(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    measured.keep(SLOW, 2, cache / "devices")
    executor = LocalExecutor(threads=2, cache=cache)
    yield judging.Court(executor, judging.task())
    executor.close()


def test_below_a_confirm_such_a_time_is_a_label(court):
    found = court.judge(judging.LOOP)
    assert found.outcome is Outcome.PASSED, found.reason
    assert found.quarantined
    assert found.evidence["quarantined"]["workload"] == "main"


def test_a_confirm_rejects_it(court):
    # A peak that a kernel exceeded is measured again by the next session, which a confirm is.
    measured.keep(SLOW, 2, court.executor.cache / "devices")
    found = court.judge(judging.LOOP, judging.CONFIRM)
    assert found.outcome is Outcome.IMPLAUSIBLY_FAST, found.reason
    assert found.evidence["compulsory_bytes"] > found.evidence["cache_bytes"]
    assert not found.measurements


def test_a_session_can_be_opened_without_controls(court):
    assert court.session.controls
    assert court.executor.open(court.task, controls=False).controls is None
