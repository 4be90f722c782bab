"""Contents that the task's own code makes keep their structure, whatever is asked about them."""

import types

import numpy as np

from kernelwright.evaluation.answers import Answers
from kernelwright.evaluation.ring_inputs import Inputs
from kernelwright.records.task import Case, Shaped, Values


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
