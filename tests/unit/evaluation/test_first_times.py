"""Whether a baseline is right: it is heard like a candidate, and forgiven more."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kernelwright.checks.answer import make_answer
from kernelwright.evaluation.first_times import SLACK, _wrong
from kernelwright.evaluation.honest_errors import HonestErrors
from kernelwright.evaluation.question import Question
from kernelwright.evaluation.ring import Ring
from kernelwright.records.task import Tolerance
from tests.samples import VECTOR as CASE

TRUTH = np.linspace(1.0, 2.0, 64)
ERROR = 1e-4


@pytest.mark.parametrize(
    ("off", "honest", "said"),
    [
        (2 * ERROR * SLACK, TRUTH + ERROR, ""),
        (8 * ERROR * SLACK, TRUTH + ERROR, ""),  # heard again, with errors four times as large
        (99 * ERROR * SLACK, TRUTH + ERROR, "off by"),
        (99 * ERROR * SLACK, np.full(64, np.inf), ""),  # undecided
    ],
)
def test_a_baseline_is_heard_again_and_compared_where_the_question_is(off, honest, said):
    def asked(*honest):
        return [make_answer("y", TRUTH.copy(), np.dtype(np.float32), honest)]

    base = Question(CASE, {}, asked(honest))
    share = 4 * ERROR / 2.0
    answers = SimpleNamespace(
        seed=lambda *words: 1,
        task=SimpleNamespace(tolerance=Tolerance()),
        base=lambda case: base,
        timed=lambda case, contents: Question(case, {}, asked(TRUTH + ERROR)),
        again=lambda question: question.held_to(HonestErrors({"y": (share, share)})),
    )
    ring = Ring.private(CASE, sealed=True)
    ring.output(0, "y")[...] = TRUTH + off
    side = SimpleNamespace(block=lambda: 1.0, ring=ring)
    host = SimpleNamespace(answers=answers, rival_side=lambda name, case, secret: side)
    found = _wrong(host, "numpy", CASE)
    assert (said in found) if said else not found
