"""At which workloads wrong answers are tried when a session is opened, and when again."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kernelwright.checks.answer import make_answer
from kernelwright.checks.sensitivity import InsensitiveTask
from kernelwright.evaluation import admission
from kernelwright.evaluation.question import Question
from kernelwright.records.sensitivity import Sensed, Sensitivity
from kernelwright.records.task import Tolerance
from tests.samples import VECTOR

SMOKE, MAIN, EXTRA = (
    VECTOR.model_copy(update={"workload": name}) for name in ("smoke", "main", "extra")
)
TRUTH = np.arange(64)


def seen(*cases, reason=""):
    workloads = tuple(Sensed(workload=one.workload, controls=(), seconds=0.1) for one in cases)
    return Sensitivity(workloads=workloads, tolerance=Tolerance(k=3), reason=reason)


def asked_for(monkeypatch, known, timed=(MAIN, EXTRA), undecided=None, found=None):
    """What is asked for before a task is admitted that is known so well."""
    asked = []

    def sense(answers, cases, seconds, larger):
        asked.append(([one.workload for one in cases], [one.workload for one in larger]))
        return found or seen(*cases, *larger)

    def base(case):
        honest = TRUTH + (case is undecided)
        return Question(case, {}, [make_answer("n", TRUTH, TRUTH.dtype, (honest,))])

    monkeypatch.setattr(admission, "sense", sense)
    cases = SimpleNamespace(smoke=SMOKE, timed=list(timed))
    seen_at_last = admission.admitted(SimpleNamespace(base=base), cases, known)
    assert seen_at_last is known or asked
    return asked


def test_every_timed_workload_is_tried_and_what_is_known_is_not_tried_again(monkeypatch):
    everywhere = [(["smoke"], ["main", "extra"])]
    assert asked_for(monkeypatch, None) == everywhere
    assert asked_for(monkeypatch, seen(SMOKE)) == everywhere
    assert asked_for(monkeypatch, seen(SMOKE, MAIN)) == everywhere
    assert asked_for(monkeypatch, seen(SMOKE, MAIN, EXTRA)) == []
    assert asked_for(monkeypatch, None, timed=(SMOKE,)) == [(["smoke"], [])]


@pytest.mark.parametrize("undecided", [SMOKE, MAIN, EXTRA])
def test_an_answer_that_is_undecided_in_this_session_is_looked_into(monkeypatch, undecided):
    assert len(asked_for(monkeypatch, seen(SMOKE, MAIN, EXTRA), undecided=undecided)) == 1


def test_a_task_that_a_wrong_answer_passes_is_refused(monkeypatch):
    with pytest.raises(InsensitiveTask, match="zeros pass"):
        asked_for(monkeypatch, None, found=seen(SMOKE, reason="zeros pass"))
