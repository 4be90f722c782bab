"""Clocks that disagree are heard again; what disagrees twice stands, and nothing else waits."""

from __future__ import annotations

import pytest

from kernelwright.evaluation.pipeline import with_clocks_heard_twice
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.outcome import Outcome
from kernelwright.records.rung import Rung


def verdict(outcome: Outcome, reason: str = "") -> Evaluation:
    return Evaluation(
        candidate="c",
        rung=Rung.SCREEN,
        outcome=outcome,
        reason=reason,
        evidence={"own": 1},
        seconds=2.0,
        device_seconds=2.0,
        seed=0,
    )


DISAGREED = verdict(Outcome.CLOCK_DISAGREEMENT, "claims 1 us, seen 2 us")


@pytest.mark.parametrize("outcome", [Outcome.PASSED, Outcome.CLOCK_DISAGREEMENT, Outcome.CRASHED])
def test_the_second_hearing_decides_and_names_the_first(outcome):
    verdicts = iter([DISAGREED, verdict(outcome)])
    found = with_clocks_heard_twice(lambda: next(verdicts))
    assert found.outcome is outcome
    assert found.evidence == {"own": 1, "clocks_heard_again": DISAGREED.reason}
    assert (found.seconds, found.device_seconds) == (4.0, 4.0)
    assert next(verdicts, None) is None


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.CLOCK_DISAGREEMENT])
def test_any_other_outcome_is_final(outcome):
    first = verdict(outcome)
    verdicts = iter([first])
    assert with_clocks_heard_twice(lambda: next(verdicts)) is first
