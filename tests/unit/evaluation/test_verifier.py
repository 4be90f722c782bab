"""What the verifier does around a verdict."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.errors import ControlError
from kernelwright.evaluation import pipeline
from kernelwright.evaluation.aftermath import Aftermath
from kernelwright.evaluation.channel import ChannelError
from kernelwright.evaluation.verifier import Verifier, serve
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob
from kernelwright.records.outcome import Outcome
from tests.device import judging


class Entrants:
    def enter(self, *arguments):
        return nullcontext()


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """One verdict after another, on a machine where others take so many cores, look by look."""
    lost = []
    verifier = Verifier(tmp_path)
    verifier.bench, verifier.entrants = object(), Entrants()

    def judge(outcome, *cores):
        lost[:] = cores
        candidate = make_candidate(judging.LOOP, "cpp")
        found = Evaluation(candidate=candidate.id, rung=1, outcome=outcome, evidence={"a": 1})
        monkeypatch.setattr(pipeline, "judge", lambda *arguments: found)
        job = JudgeJob(
            number=1,
            task=judging.task(),
            candidate=candidate,
            plan=judging.SMOKE,
            seed=1,
            threads=1,
        )
        built = {"worker": "library", "library": str(tmp_path)}
        message = {"job": job.model_dump(mode="json"), "built": built, "rival": None}
        return verifier.judge(message)["evaluation"]["evidence"]

    def probe():
        return lost.pop(0) if len(lost) > 1 else lost[0]

    lost[:] = [0.0]
    verifier.aftermath = Aftermath(probe, lambda seconds: None)
    return judge


def test_after_a_kill_the_cores_are_felt_and_the_next_verdict_says_what_was_left(judged):
    assert judged(Outcome.TIMEOUT, 1.0) == {"a": 1}
    assert judged(Outcome.PASSED, 1.5) == {"a": 1, "leftovers_on_cores": 1.5}
    assert judged(Outcome.PASSED, 0.0) == {"a": 1}


def test_nothing_is_said_where_nobody_was_killed(judged):
    assert judged(Outcome.WRONG_VALUES, 1.0) == {"a": 1}
    assert judged(Outcome.PASSED, 1.0) == {"a": 1}


def test_a_control_that_fails_is_told_by_its_name():
    class Failing:
        def open(self, message):
            raise ControlError("no verdict can be given", hint="try again")

    class Wire:
        asked, told = False, None

        def receive(self):
            if self.asked:
                raise ChannelError("gone")
            self.asked = True
            return {"do": "open"}, []

        def reply(self, message, answer):
            self.told = answer

    wire = Wire()
    serve(wire, Failing())
    said = {"error": "ControlError", "message": "no verdict can be given", "hint": "try again"}
    assert wire.told == said
