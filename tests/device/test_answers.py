"""Answers: what a lower type honestly costs, and where small integers are answered exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernelwright.checks.correctness import judge
from kernelwright.checks.rounding import rounded
from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.hearing import hear
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.records.task import Task
from kernelwright.tasks import contract, edges, hostile, suites
from kernelwright.tasks.load import load_task


@pytest.fixture(scope="module")
def oracle():
    with Oracle() as started:
        yield started


def core(name, **changes):
    found = load_task(name, inspector=lambda request: request)
    return Task.model_validate(found.model_dump() | changes)


def asked(oracle, task, secret=5):
    oracle.load(task)
    case = contract.resolve(task, contract.workload(task, "cpu", "smoke"))
    return Answers(task, oracle, secret), case


PLAIN = {"group_conv", "matmul", "matvec", "reduction", "rotary"}


@pytest.mark.parametrize("name", suites.names())
def test_whether_integers_are_exact_is_seen(oracle, name):
    answers, case = asked(oracle, core(name))
    question = answers.hostile(case, hostile.INTEGERS)
    for item in case.inputs:
        assert np.array_equal(question.contents[item.name], np.rint(question.contents[item.name]))
    (answer,) = question.answers
    assert answer.exact is (name in PLAIN)
    right = answer.truth.astype(answer.dtype)
    assert judge(right, answer, answers.task.tolerance) is None
    near = right.copy()
    near.reshape(-1)[3] = np.nextafter(near.reshape(-1)[3], np.float32(np.inf))
    assert (judge(near, answer, answers.task.tolerance) is not None) is (name in PLAIN)


def test_a_mean_that_divides_evenly_by_luck_is_not_exact(oracle):
    source = "def reduction(xp, x):\n    return xp.mean(x, axis=-1)\n"
    reference = {"kind": "array", "entry": "reduction", "source": source}
    for secret in range(12):
        answers, case = asked(oracle, core("reduction", reference=reference), secret)
        assert not answers.hostile(case, hostile.INTEGERS).answers[0].exact


def test_rows_that_cancel_have_small_sums_and_honest_errors(oracle):
    answers, case = asked(oracle, core("reduction"))
    (answer,) = answers.hostile(case, hostile.CANCELLING).answers
    (plain,) = answers.base(case).answers
    assert answer.scale_largest < 0.05 < plain.scale_largest
    assert answer.e0_largest > 1e-7


@pytest.mark.parametrize(("precision", "bits"), [("tf32", 10), ("float16", 10), ("bfloat16", 7)])
@pytest.mark.parametrize("name", ["matmul", "softmax", "layernorm"])
def test_a_type_that_is_allowed_widens_the_tolerance_by_what_it_costs(
    oracle, name, precision, bits
):
    task = core(name, precision=[precision])
    wide, case = asked(oracle, task)
    strict = Answers(core(name), oracle, 5)
    question, narrow = wide.base(case), strict.base(case)
    (answer,), (exact,) = question.answers, narrow.answers
    assert np.array_equal(answer.truth, exact.truth)
    assert answer.e0_largest > 20 * exact.e0_largest
    # Who rounds what is read and written passes; who rounds further does not.
    views = {name: rounded(view, bits) for name, view in question.contents.items()}
    honest = rounded(
        wide.oracle.truth(case, views, ("serial",))["serial"][answer.name], bits
    ).astype(np.float32)
    assert judge(honest, answer, task.tolerance) is None
    assert judge(honest, exact, task.tolerance) is not None
    coarser = rounded(answer.truth, bits - 5).astype(np.float32)
    assert judge(coarser, answer, task.tolerance) is not None


def test_integers_stay_integers_whatever_is_allowed(oracle):
    answers, case = asked(oracle, core("cross_entropy", precision=["bfloat16"]))
    assert answers.base(case).contents["labels"].dtype == np.int64
    assert answers.base(case).compared == ("loss",)


def test_one_value_everywhere_is_one_sample(oracle):
    def error(secret):
        answers, case = asked(oracle, core("swiglu"), secret)
        (answer,) = answers.hostile(case, "constant").answers
        return answer.e0_largest / answer.scale_largest

    # A single sample of such an error is often ten times smaller than another.
    found = [error(secret) for secret in range(12)]
    assert max(found) < 4 * min(found)


def test_what_misses_by_little_is_heard_again(oracle):
    answers, case = asked(oracle, core("softmax"))
    question = answers.base(case)
    (plain,) = question.answers
    lucky = replace(plain, e0_largest=plain.e0_largest / 8, e0_rms=plain.e0_rms / 8)
    serial = oracle.truth(case, question.contents, ("serial",))["serial"]
    got, at = serial[plain.name].astype(np.float32), int(plain.truth.argmax())
    tolerance = answers.task.tolerance.model_copy(update={"ulps": 0.5})

    def heard():
        return hear(answers, replace(question, answers=[lucky]), plain.name, got, tolerance, 0)

    got.reshape(-1)[at] += np.float32(2 * plain.e0_largest)
    assert judge(got, lucky, tolerance) is not None
    assert heard().compared.finding is None
    assert heard().answer.e0_largest >= plain.e0_largest
    got.reshape(-1)[at] += np.float32(40 * plain.e0_largest)
    assert heard().compared.finding is not None


def test_a_timed_call_is_held_to_errors_at_the_size_of_its_own_answer(oracle):
    answers, case = asked(oracle, core("matmul"))
    base = answers.base(case)
    small = {name: 1e-3 * view for name, view in base.contents.items()}
    (large,), (timed,) = base.answers, answers.timed(case, small).answers
    assert timed.e0_largest == pytest.approx(1e-6 * large.e0_largest, rel=1e-3)


STEP = 0.037


def quantising():
    return core(
        "softmax",
        reference={
            "kind": "array",
            "entry": "softmax",
            "source": "def softmax(xp, x):\n"
            f"    return xp.astype(xp.round(x / {STEP}), xp.int32)\n",
        },
        outputs=[{"name": "y", "dtype": "int32", "shape": ["M", "N"]}],
    )


def test_whole_numbers_at_a_boundary_are_right_as_honest_evaluations_have_them(oracle):
    answers, case = asked(oracle, quantising())
    views = answers.draw(case, 1)
    flat = views["x"].reshape(-1)
    few = np.arange(0, flat.size, 200)
    flat[few] = ((few // 200 + 0.5) * STEP).astype(flat.dtype)
    (answer,) = answers.answer(case, views)
    found = oracle.truth(case, views, ("native", "serial"))
    native = found["native"]["y"]
    assert 0 < int((native != answer.truth).sum()) <= few.size
    assert not answer.undecided
    for got in (native, found["serial"]["y"], answer.truth):
        assert judge(got, answer, answers.task.tolerance) is None
    assert judge(native + 1, answer, answers.task.tolerance) is not None
    near = native.copy()
    near.reshape(-1)[1] += 1
    assert judge(near, answer, answers.task.tolerance) is not None


def times_reciprocal(x):
    return np.rint(x * np.float32(1 / STEP)).astype(np.int32)


def test_who_multiplies_by_a_reciprocal_is_heard_again_and_right(oracle):
    answers, case = asked(oracle, quantising())
    near = ((np.arange(20_000) + 0.5) * STEP).astype(np.float32)
    right = np.rint(near.astype(np.float64) / STEP)
    native = np.rint(near / np.float32(STEP))
    elsewhere = near[(native == right) & (times_reciprocal(near) != right)]
    assert elsewhere.size
    for seed in range(4):
        views = answers.draw(case, seed)
        flat = views["x"].reshape(-1)
        flat[: flat.size // 200] = np.resize(np.roll(elsewhere, seed), flat.size // 200)
        made = answers.answer(case, views)
        question = Question(case, views, made, f"elsewhere {seed}", answers.base(case).make)
        got = times_reciprocal(views["x"])
        assert judge(got, made[0], answers.task.tolerance) is not None
        heard = hear(answers, question, "y", got, answers.task.tolerance, 0)
        assert heard.compared.finding is None
        got.reshape(-1)[-1] += 1
        heard = hear(answers, question, "y", got, answers.task.tolerance, 0)
        assert heard.compared.finding is not None


@pytest.mark.parametrize("rows", [1, 2, 8, 9, 40])
def test_nearly_equal_numbers_excuse_no_other_index(oracle, rows):
    source = "def softmax(xp, x):\n    return xp.argmax(x, axis=-1)\n"
    task = core(
        "softmax",
        reference={"kind": "array", "entry": "softmax", "source": source},
        outputs=[{"name": "y", "dtype": "int64", "shape": ["M"]}],
    )
    oracle.load(task)
    workload = contract.workload(task, "cpu", "smoke")
    resized = workload.model_copy(update={"axes": {"M": rows, "N": 100_000}})
    case, answers = contract.resolve(task, resized), Answers(task, oracle, 5)

    def make(seed):
        x = 0.9999 + 1e-4 * np.random.default_rng(seed).random((rows, 100_000))
        return {"x": x.astype(np.float32)}

    views = make(0)
    question = Question(case, views, answers.answer(case, views), "near", make)
    for got in (views["x"][:, :4096], views["x"][:, ::-1]):
        place = got.argmax(axis=-1) if got.shape[1] == 4096 else 99_999 - got.argmax(axis=-1)
        heard = hear(answers, question, "y", place, answers.task.tolerance, 0)
        assert heard.compared.finding is not None
        assert answers.again(question).compared == ("y",)
    right = views["x"].argmax(axis=-1)
    assert hear(answers, question, "y", right, answers.task.tolerance, 0).compared.finding is None


def test_a_whole_number_with_which_outputs_have_another_shape_is_skipped(oracle):
    task = core(
        "softmax",
        axes={"M": "fixed", "N": "fixed"},
        outputs=[{"name": "y", "dtype": "float32", "shape": ["M", 4]}],
        scalars=[
            {"name": "many", "dtype": "int64", "value": 4},
            {"name": "axis", "dtype": "int32", "value": 1},
            {"name": "factor", "dtype": "int64", "value": 3},
        ],
        reference={
            "kind": "array",
            "entry": "softmax",
            "source": "def softmax(xp, x, many, axis, factor):\n"
            "    if axis != 1:\n        raise ValueError(axis)\n"
            "    return factor * x[:, :many]\n",
        },
    )
    answers, _ = asked(oracle, task)
    many, axis, factor = edges.edge_cases(task, "cpu")
    for case, kind in ((many, "shape"), (axis, "raises")):
        with pytest.raises(ReferenceFailure) as failed:
            answers.shape(case)
        assert failed.value.kind == kind
    question = answers.shape(factor)
    (answer,) = question.answers
    assert np.array_equal(answer.truth, 4 * question.contents["x"][:, :4].astype(np.float64))
