"""What the end of a process says of who ran in it."""

import signal

import pytest

from kernelwright.evaluation.ending import death
from kernelwright.records.outcome import Outcome


class Ended:
    """A process that has ended with that code."""

    pid = 1

    def __init__(self, code):
        self.code = code

    def poll(self):
        return self.code

    def kill(self):
        pass

    def tail(self, size=2000):
        return ""


@pytest.mark.parametrize(
    ("alone", "outcome", "reason"),
    [(True, Outcome.DEFERRED_WORK, "start a process"), (False, Outcome.CRASHED, "SIGSYS")],
)
def test_only_who_may_start_no_process_is_said_to_have_tried(alone, outcome, reason):
    found = death(Ended(-signal.SIGSYS), "the candidate", "gone", 0, alone=alone)
    assert found.outcome is outcome
    assert reason in found.reason
