"""Which tasks can be scored: famous ones on which a wrong answer passes, and their honest twins."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.sensing import sense
from kernelwright.records.task import Task, Tolerance
from kernelwright.tasks import contract, suites
from kernelwright.tasks.load import load_task

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernelbench"


@pytest.fixture(scope="module")
def oracle():
    with Oracle() as started:
        yield started


def cases_of(task, roles=("smoke", "main", "extra")):
    return [
        contract.resolve(task, one)
        for one in task.workloads
        if one.device == "cpu" and one.role in roles
    ]


def sensed(oracle, task, roles=("smoke", "main", "extra"), seed=3):
    oracle.load(task)
    return sense(Answers(task, oracle, seed), cases_of(task, roles))


def accepted(found):
    return {(one.name, one.of) for _, one in found.accepted}


def task(body, inputs=(), shape=("M", "N"), dtype="float32", **changes):
    """A task over x [M, N] and further inputs, whose reference is one expression."""
    names = ["x", *(one["name"] for one in inputs)]
    scalars = changes.get("scalars", ())
    arguments = ", ".join(["xp", *names, *(one["name"] for one in scalars)])
    source = (
        "def softmax(xp, x):\n"
        "    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))\n"
        "    return e / xp.sum(e, axis=-1, keepdims=True)\n"
        f"def f({arguments}):\n    return {body}\n"
    )
    fields = {
        "name": "f",
        "entry": "f",
        "axes": {"M": "free", "N": "free"},
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["M", "N"]}, *inputs],
        "outputs": [{"name": "y", "dtype": dtype, "shape": list(shape)}],
        "workloads": [
            {"name": "small", "device": "cpu", "role": "main", "axes": {"M": 12, "N": 77}},
        ],
        "reference": {"kind": "array", "entry": "f", "source": source},
    }
    return Task.model_validate(fields | changes)


def weight(std):
    values = {"kind": "normal", "mean": 0.0, "std": std}
    return [
        {"name": "w", "dtype": "float32", "shape": ["N", 9], "values": values},
        {"name": "b", "dtype": "float32", "shape": [9]},
    ]


SCALE = [{"name": "alpha", "dtype": "float32", "value": 1.5}]
# Per task: the insensitive form, the controls that pass, and a twin that differs in one place.
FAMOUS = {
    "mean of a softmax": (
        task("xp.mean(softmax(xp, x), axis=-1)", shape=["M"]),
        {("another_seed", "y"), ("perturbed", "x")},
        task("xp.max(softmax(xp, x), axis=-1)", shape=["M"]),
    ),
    "sum of a normalised row": (
        task("xp.sum(x / xp.sum(x, axis=-1, keepdims=True), axis=-1)", shape=["M"]),
        {("another_seed", "y"), ("perturbed", "x")},
        task("xp.sum(x, axis=-1)", shape=["M"]),
    ),
    "a ripple on a large constant": (
        task("1000 + 0.00004 * xp.tanh(x)"),
        {("mean", "y"), ("rows_permuted", "y"), ("another_seed", "y"), ("perturbed", "x")},
        task("0.00004 * xp.tanh(x)"),
    ),
    "a weight that is zero": (
        task("x @ w + b", weight(0.0), ["M", 9]),
        {("perturbed", "x"), ("perturbed", "w")},
        task("x @ w + b", weight(0.1), ["M", 9]),
    ),
    "a saturated sigmoid": (
        task("1 / (1 + xp.exp(-(x + 20)))"),
        {("mean", "y"), ("rounded", "y"), ("another_seed", "y"), ("perturbed", "x")},
        task("1 / (1 + xp.exp(-x))"),
    ),
    "a sigmoid of huge values": (
        task("1 / (1 + xp.exp(-1000 * (xp.abs(x) + 1)))"),
        {("another_seed", "y"), ("perturbed", "x")},
        task("1 / (1 + xp.exp(-(xp.abs(x) + 1)))"),
    ),
    "the maximum of nothing": (
        task("xp.max(x * 0, axis=-1)", shape=["M"]),
        {("another_seed", "y"), ("perturbed", "x")},
        task("xp.max(x * 2, axis=-1)", shape=["M"]),
    ),
    "an input that is dropped": (
        task("x @ w + 0 * xp.sum(b)", weight(0.1), ["M", 9]),
        {("perturbed", "b")},
        task("x @ w + xp.sum(b)", weight(0.1), ["M", 9]),
    ),
    "a scalar that is dropped": (
        task("x * x + 0 * alpha", scalars=SCALE),
        {("perturbed", "alpha")},
        task("x * x + alpha", scalars=SCALE),
    ),
    "a residual too small to see": (
        task("x + 1e-9 * xp.sum(b)", weight(0.1)[1:]),
        {("pass_through", "y"), ("perturbed", "b")},
        task("x + xp.sum(b)", weight(0.1)[1:]),
    ),
    "a tail that never matters": (
        task("xp.where(xp.arange(77) < 70, x, 1e-12 * x)"),
        set(),  # only the last elements of each row: others are right
        task("x + x"),
    ),
    "rows that fade away": (
        task("x * 0.2 ** xp.astype(xp.arange(12), x.dtype)[:, None]"),
        {("last_tile", "y"), ("last_row", "y")},
        task("x * 0.5 ** xp.astype(xp.arange(12), x.dtype)[:, None]"),
    ),
}


@pytest.mark.parametrize("name", FAMOUS)
def test_an_insensitive_task_is_refused_for_the_right_control(oracle, name):
    bad, expected, _ = FAMOUS[name]
    found = sensed(oracle, bad)
    assert accepted(found) >= expected
    assert found.refused is bool(expected)
    assert bool(found.hint) is found.refused


@pytest.mark.parametrize("name", FAMOUS)
def test_its_honest_twin_is_accepted_as_it_is(oracle, name):
    twin = FAMOUS[name][2]
    for seed in range(5):
        found = sensed(oracle, twin, seed=seed)
        assert not found.refused, found.reason
        assert found.tightened_from is None


RIGHT = {
    "a copy": (task("x + 0"), "pass_through"),
    "rows that are all alike": (
        task("xp.zeros_like(x) + xp.sum(x, axis=0)"),
        "rows_permuted",
    ),
    "the mean itself": (task("xp.zeros_like(x) + xp.mean(x)"), "mean"),
    "truth values": (task("x > 0", dtype="bool"), "half_the_tolerance"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_control_that_is_right_says_nothing(oracle, name):
    exact, control = RIGHT[name]
    found = sensed(oracle, exact)
    assert not found.refused, found.reason
    verdicts = {one.name: one.verdict for one in found.workloads[0].controls}
    assert verdicts.get(control, "right") == "right"


def test_a_loose_tolerance_is_tightened(oracle):
    loose = task("softmax(xp, x)", tolerance={"k": 1e6})
    found = sensed(oracle, loose)
    assert not found.refused, found.reason
    assert found.tightened_from == Tolerance(k=1e6)
    assert 1 <= found.tolerance.k < 1e5
    assert not found.accepted


def test_a_lower_type_that_is_allowed_moves_the_control_one_type_down(oracle):
    for precision, bits in ((), "to 10 bits"), (("tf32",), "to 7 bits"), (("bfloat16",), "to 3"):
        found = sensed(oracle, task("x @ w + b", weight(0.1), ["M", 9], precision=precision))
        assert not found.refused, found.reason
        (rounded,) = [one for one in found.workloads[0].controls if one.name == "rounded"]
        assert rounded.note.startswith(bits)
        assert rounded.verdict == "rejected"


@pytest.mark.parametrize("name", suites.names())
def test_every_core_task_can_be_scored(oracle, name):
    found = sensed(oracle, load_task(name, inspector=oracle.inspect))
    assert not found.refused, found.reason
    assert found.tightened_from is None
    assert all(
        one.verdict in ("rejected", "right") for work in found.workloads for one in work.controls
    )


@pytest.mark.parametrize("name", suites.names())
def test_whatever_the_seed(oracle, name):
    task = load_task(name, inspector=oracle.inspect)
    for seed in range(20):
        found = sensed(oracle, task, ("smoke",), seed)
        assert not found.refused, found.reason
        assert found.tightened_from is None


@pytest.mark.skipif(not find_spec("torch"), reason="needs torch")
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_can_be_scored(oracle, path):
    found = sensed(oracle, load_task(path, inspector=oracle.inspect))
    assert not found.refused, found.reason
    assert found.tightened_from is None


def foreign(tmp_path, drawn, body="return a @ b"):
    path = tmp_path / "ops.py"
    path.write_text(
        "import numpy as np\n"
        f"def get_inputs():\n    r = np.random.rand\n    return {drawn}\n"
        f"def product(a, b):\n    {body}\n"
    )
    return f"{path}:product"


BOUNDARY = {
    "few": ("x * 3 > 1", "bool", False),
    "many": ("xp.sin(1e7 * x) > 0", "bool", True),
    "whole numbers": ("xp.astype(xp.round(20 * x), xp.int32)", "int32", False),
    "many whole numbers": ("xp.astype(xp.round(1e8 * x), xp.int64)", "int64", True),
}


@pytest.mark.parametrize("name", BOUNDARY)
def test_an_output_of_which_honest_evaluations_disagree_is_refused(oracle, name):
    body, dtype, refused = BOUNDARY[name]
    found = sensed(oracle, task(body, dtype=dtype))
    assert found.refused is refused, found.reason
    assert (("undecided", "y") in accepted(found)) is refused
    assert ("part at" in found.reason) is refused


DRAWN = {
    "diagonal": ("[np.diag(r(40)), r(40, 9)]", {("pattern", "a")}),
    "triangular": ("[np.triu(r(40, 40)), r(40, 9)]", set()),
    "sparse": ("[r(40, 40) * (r(40, 40) < 0.05), r(40, 9)]", set()),
    "whole": ("[r(40, 40), r(40, 9)]", set()),
    "of ones": ("[r(40, 40), np.ones((40, 9))]", {("perturbed", "b")}),
    "of fixed but unlike values": ("[r(40, 40), np.arange(360.0).reshape(40, 9)]", set()),
}


@pytest.mark.parametrize("name", DRAWN)
def test_inputs_that_are_too_special(oracle, tmp_path, name):
    drawn, expected = DRAWN[name]
    found = sensed(oracle, load_task(foreign(tmp_path, drawn), inspector=oracle.inspect))
    assert accepted(found) == expected
    assert found.refused is bool(expected)


def test_an_input_without_which_the_reference_fails_matters(oracle, tmp_path):
    body = "return a @ b if abs(b[0, 0] - 0.5) < 1e-9 else None"
    drawn = "[r(40, 40), np.full((40, 9), 0.5) + 1e-12 * np.arange(9)]"
    found = sensed(oracle, load_task(foreign(tmp_path, drawn, body), inspector=oracle.inspect))
    matters = {one.of: one for one in found.workloads[0].controls if one.name == "perturbed"}
    assert matters["a"].verdict == "rejected"


def test_no_time_is_said_not_hidden(oracle):
    bad = FAMOUS["an input that is dropped"][0]
    oracle.load(bad)
    found = sense(Answers(bad, oracle, 3), cases_of(bad), seconds=0.0)
    untried = {one.of for one in found.workloads[0].controls if one.verdict == "not_tried"}
    assert untried == {"x", "w", "b"}
    assert not found.refused


def test_the_same_seed_sees_the_same(oracle):
    one, other = (
        sensed(oracle, load_task("layernorm", inspector=oracle.inspect), ("smoke",))
        for _ in range(2)
    )
    same = [work.model_copy(update={"seconds": 0.0}) for work in one.workloads]
    assert same == [work.model_copy(update={"seconds": 0.0}) for work in other.workloads]
    assert np.isfinite([c.tolerances or 0.0 for c in one.workloads[0].controls]).all()


def sizes(small, large, body, dtype, inputs=(), **changes):
    """A task of one number, tried at a small size and timed at a large one."""
    axes = {"small": ("smoke", small), "large": ("main", large)}
    workloads = [
        {"name": name, "device": "cpu", "role": role, "axes": {"M": 1, "N": extent}}
        for name, (role, extent) in axes.items()
    ]
    return task(body, inputs, (), dtype, workloads=workloads, **changes)


def opened(oracle, task, seed=3):
    """What is seen of a task when a session is opened."""
    oracle.load(task)
    smoke, timed = (cases_of(task, (role,)) for role in ("smoke", "main"))
    return sense(Answers(task, oracle, seed), smoke, 5.0, timed)


SQUARES = "xp.sum(x * x)"
COUNT = "xp.sum(xp.astype(xp.sin({} * x) > 0, xp.int64))"
GROWN = {
    "a long sum of squares": (
        sizes(999, 2_000_000, SQUARES, "float32"),
        ("large", "rounded"),
        sizes(999, 2_000_000, SQUARES, "float32", accumulate="float64"),
    ),
    "a count over many": (
        sizes(10, 200_000, COUNT.format(2000), "int64"),
        ("large", "undecided"),
        sizes(10, 200_000, COUNT.format(1), "int64"),
    ),
}


@pytest.mark.parametrize("name", GROWN)
def test_a_wrong_answer_that_passes_only_at_the_timed_size_is_found(oracle, name):
    bad, (workload, control), twin = GROWN[name]
    for seed in (3, 4):
        found = opened(oracle, bad, seed)
        assert found.refused
        assert (workload, control) in {(where, one.name) for where, one in found.accepted}
        assert {where for where, _ in found.accepted} == {workload}
        assert f"at {workload} " in found.reason
        assert found.hint
        found = opened(oracle, twin, seed)
        assert not found.refused, found.reason
        assert found.tightened_from is None


def test_at_the_timed_size_only_outputs_are_tried(oracle):
    found = opened(oracle, GROWN["a count over many"][2])
    small, large = found.workloads
    assert {one.verdict for one in small.controls if one.name == "perturbed"} == {"rejected"}
    assert {one.verdict for one in large.controls if one.name == "perturbed"} == {"not_tried"}
    tried = {one.name for one in large.controls if one.verdict == "rejected"}
    assert tried >= {"zeros", "another_seed"}


def test_few_whole_numbers_that_turn_now_and_then_are_seen_in_several_draws(oracle):
    """About every third draw turns: a session whose own draw does not must know all the same."""
    rare = sizes(10, 60_000, COUNT.format(2000), "int64")
    oracle.load(rare)
    (case,) = cases_of(rare, ("main",))
    sessions = [Answers(rare, oracle, seed) for seed in range(10)]
    lucky = [answers for answers in sessions if answers.base(case).decided]
    refused = sum(sense(answers, [], None, [case]).refused for answers in lucky)
    assert len(lucky) > 3
    assert refused > 0.6 * len(lucky)
