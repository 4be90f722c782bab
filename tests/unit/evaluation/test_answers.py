"""Contents that the task's own code makes keep their structure, whatever is asked about them."""

import types

import numpy as np
import pytest

from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.hearing import hear
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.evaluation.ring_inputs import Inputs
from kernelwright.records.task import Case, Shaped, Tolerance, Values


def case_of(kind):
    item = Shaped(name="x", shape=(70, 70), dtype="float32", values=Values(kind=kind))
    output = Shaped(name="y", shape=(70, 70), dtype="float32")
    return Case(workload="w", device="cpu", inputs=(item,), outputs=(output,), scalars=(), axes={})


class Oracle:
    """Draws symmetric matrices, and doubles them."""

    def generate(self, seed, case, views):
        half = np.random.default_rng(seed).standard_normal((70, 70))
        views["x"][...] = half + half.T

    def truth(self, case, contents, parts):
        return {part: {"y": 2 * contents["x"].astype(np.float64)} for part in parts}


def asked():
    return Answers(types.SimpleNamespace(precision=()), Oracle(), 5)


def test_no_question_breaks_a_symmetry():
    answers, case = asked(), case_of("given")
    base = answers.base(case).contents
    timed = answers.timed(case, base)
    others = [answers.touched(case).contents, *(timed.make(seed) for seed in range(3))]
    for one in others:
        assert np.array_equal(one["x"], one["x"].T)
        assert (one["x"] != base["x"]).mean() > 0.9


def test_draws_are_kept_for_all_buffers_of_a_workload():
    answers, case = asked(), case_of("given")
    known = answers.draws(case)
    assert answers.draws(case) is known
    assert answers.draws(case_of("normal").model_copy(update={"workload": "v"})) is None
    base = answers.base(case).contents
    seen = set()
    for secret in range(2):
        read = Inputs(case, 2, sealed=True, draws=known)
        read.fill(base)
        for block in range(2):
            read.freshen(block, base, secret, sparse=block == 1)
            for slot in range(2):
                x = read.contents(slot)["x"]
                assert np.array_equal(x, x.T)
                seen.add(x.tobytes())
        read.close()
    assert len(seen) == 8
    assert known.at_hand == 9


class Failing:
    """Adds up float32 numbers; fails as often as it is told, in the way it is told."""

    def __init__(self, *kinds):
        self.kinds, self.asked = list(kinds), 0

    def truth(self, case, contents, parts):
        self.asked += 1
        if self.kinds:
            raise ReferenceFailure(self.kinds.pop(0), "it failed")
        return {part: {"y": contents["x"].astype(np.float64)} for part in parts}


def failing(*kinds):
    oracle = Failing(*kinds)
    return oracle, Answers(types.SimpleNamespace(precision=()), oracle, 5), case_of("normal")


@pytest.mark.parametrize("kind", ["deadline", "memory", "exit", "process", "random"])
def test_a_failure_of_the_moment_is_asked_again_and_never_kept(kind):
    oracle, answers, case = failing(kind)
    assert answers.base(case).compared == ("y",)
    oracle, answers, case = failing(kind, kind)
    with pytest.raises(ReferenceFailure) as failed:
        answers.base(case)
    assert (failed.value.kind, oracle.asked) == (kind, 2)
    assert not failed.value.undefined
    assert answers.base(case).compared == ("y",)


@pytest.mark.parametrize("kind", ["raises", "nan", "shape", "count", "dtype", "writes"])
def test_where_the_reference_is_undefined_it_is_asked_once(kind):
    oracle, answers, case = failing(kind)
    for _ in range(3):
        with pytest.raises(ReferenceFailure) as failed:
            answers.base(case)
        assert failed.value.undefined
    assert oracle.asked == 1


class Erring:
    """Its native evaluation errs more at every look at it."""

    def __init__(self):
        self.error = 1e-6

    def truth(self, case, contents, parts):
        self.error *= 100
        right = contents["x"].astype(np.float64)
        return {part: {"y": right + (part == "native") * self.error} for part in parts}


def test_however_often_it_is_heard_again_no_more_is_granted_than_eight_times_the_first():
    task = types.SimpleNamespace(precision=(), tolerance=Tolerance())
    answers, case = Answers(task, Erring(), 5), case_of("normal")
    question = answers.base(case)
    (first,) = question.answers
    for _ in range(3):
        (heard,) = answers.again(answers.base(case)).answers
        assert heard.e0_largest == pytest.approx(8 * first.e0_largest)
        (kept,) = answers.base(case).answers
        assert kept.e0_largest == heard.e0_largest


class Contracting:
    """Whole numbers of which the contracted evaluation alone makes others, wherever it is asked."""

    def truth(self, case, contents, parts):
        right = np.arange(4900).reshape(70, 70)
        return {part: {"y": right + (part == "contracted")} for part in parts}


def test_a_question_that_was_decided_is_compared_whatever_is_heard():
    task = types.SimpleNamespace(precision=(), tolerance=Tolerance(), accumulate="float32")
    case = case_of("normal")
    whole = case.outputs[0].model_copy(update={"dtype": "int64"})
    case = case.model_copy(update={"outputs": (whole,)})
    answers = Answers(task, Contracting(), 5)
    right = np.arange(4900).reshape(70, 70)
    few = right + (right < 4)
    base = answers.base(case)
    assert hear(answers, base, "y", few, Tolerance(), 0).compared.finding is not None
    assert answers.base(case).compared == ("y",)
    assert hear(answers, answers.base(case), "y", right, Tolerance(), 0).compared.finding is None
    timed = answers.timed(case, base.contents)
    assert hear(answers, timed, "y", few, Tolerance(), 0).compared.finding is None
    assert hear(answers, timed, "y", few + (few < 2), Tolerance(), 0).compared.finding is not None
