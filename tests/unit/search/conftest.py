"""A store in memory, and a run on a made-up device."""

import pytest

from kernelwright.records.run import Budget, RunSpec
from kernelwright.search.loop import start_run
from kernelwright.store.store import Store
from kernelwright.testing.simulated import SimulatedExecutor, made_up_candidates, made_up_task


@pytest.fixture
def store():
    opened = Store.open("sqlite://")
    yield opened
    opened.close()


def spec_of(**change):
    budget = Budget(**{key: change.pop(key) for key in ("minutes", "evaluations") if key in change})
    given = {"proposers": ("tune",), "effort": "quick", "threads": 2, "budget": budget} | change
    return RunSpec(task="", device="cpu", **given)


@pytest.fixture
def run(store):
    """Start a run; keyword arguments go to the spec, except those of the executor."""

    def start(truth=None, *, start=4, executor=None, observer=None, plans=None, **change):
        device = {key: change.pop(key) for key in ("drafts", "looks", "noise", "floor_us")
                  if key in change}  # fmt: skip
        if truth is not None:
            device["truth"] = truth
        executor = executor or SimulatedExecutor(**device)
        candidates = made_up_candidates(start) if isinstance(start, int) else start
        return start_run(
            store,
            executor,
            made_up_task(),
            spec_of(**change),
            start=candidates,
            observer=observer,
            plans=plans,
            clock=executor.clock,
        )

    return start
