"""Controls of a session in a run: kept with it, and nothing is lost where one fails."""

from __future__ import annotations

import pytest

from kernelwright.errors import ControlError
from kernelwright.records.rung import Rung
from kernelwright.search.loop import resume_run, start_run
from kernelwright.search.replay import replay_run
from kernelwright.search.summary import summarise
from kernelwright.testing.simulated import SimulatedExecutor, made_up_candidates, made_up_task
from tests import samples

from .conftest import spec_of


class Device(SimulatedExecutor):
    """A device that tests itself; at a confirm it fails if it is told to."""

    simulated = False

    def __init__(self, *, fails=False, **change):
        super().__init__(**change)
        self._fails = fails

    def session(self, task):
        return super().session(task).model_copy(update={"controls": samples.controls()})

    def judge(self, job):
        if self._fails and job.plan.rung is Rung.CONFIRM:
            raise ControlError("no verdict can be given", hint="try again")
        return super().judge(job)


def start(store, executor):
    return start_run(store, executor, made_up_task(), spec_of(), start=made_up_candidates(4),
                     clock=executor.clock)  # fmt: skip


def test_they_are_kept_with_the_session(store):
    summary = start(store, Device())
    assert summarise(store, summary.run.id).session.controls == samples.controls()
    assert replay_run(store, summary.run.id).matches


def test_where_one_fails_at_the_confirm_the_run_goes_on_later(store):
    with pytest.raises(ControlError):
        start(store, Device(fails=True))
    (run,) = store.runs()
    before = len(store.evaluations(run.id))
    assert before
    executor = Device()
    done = resume_run(store, executor, run.id, clock=executor.clock)
    assert done.run.status == "improved"
    assert len(store.evaluations(run.id)) > before
