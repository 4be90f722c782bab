"""A leader whose time cannot be: confirmed at once, under its own label, and nobody's parent."""

from __future__ import annotations

from kernelwright.records.evaluation import QUARANTINED
from kernelwright.records.outcome import Outcome
from kernelwright.records.rung import Rung
from kernelwright.search.replay import replay_run
from kernelwright.testing.simulated import SimulatedExecutor, Truth, smooth_truth


class Suspicious(SimulatedExecutor):
    """The structure named ``s0`` claims a hundredfold, which only a confirm is sure of."""

    lies = True

    def __init__(self):
        super().__init__(self._truth_of, noise=0.01)

    def _truth_of(self, candidate):
        if "s0" not in candidate.source:
            return smooth_truth(candidate)
        end = Outcome.IMPLAUSIBLY_FAST if self.lies else Outcome.PASSED
        return Truth(speedup=100.0, outcome=end, fails_at=Rung.CONFIRM)

    def judge(self, job):
        found = super().judge(job)
        timed = Rung.SCREEN <= job.plan.rung < Rung.CONFIRM
        if "s0" in job.candidate.source and timed:
            found = found.model_copy(update={"evidence": {QUARANTINED: {"workload": "large"}}})
        return found


class Right(Suspicious):
    lies = False


def looks(store, summary):
    known = {one.id: one for one in store.candidates(summary.run.id)}
    return [
        ("s0" in known[one.evaluation.candidate].source, one.evaluation)
        for one in store.evaluations(summary.run.id)
    ]


def test_it_is_confirmed_as_soon_as_it_leads_and_the_next_best_wins(run, store):
    summary = run(executor=Suspicious(), effort="quick")
    assert summary.run.status == "improved"
    assert "s0" not in summary.best.source
    made = looks(store, summary)
    first = next(at for at, (mine, one) in enumerate(made) if mine and one.rung is Rung.FULL)
    assert any(one.rung is Rung.CONFIRM for mine, one in made[first : first + 4] if mine)
    assert len(made) > first + 4
    assert replay_run(store, summary.run.id).matches


def test_it_is_nobodys_parent(run, store):
    summary = run(executor=Suspicious(), effort="quick")
    quarantined = {one.candidate for mine, one in looks(store, summary) if mine and one.quarantined}
    assert quarantined
    parents = {parent for one in store.candidates(summary.run.id) for parent in one.parents}
    told = {one.candidate for mine, one in looks(store, summary) if one.rung is Rung.SCREEN}
    assert parents & told
    assert not parents & quarantined


def test_one_that_stands_its_confirm_wins(run):
    summary = run(executor=Right(), effort="quick")
    assert "s0" in summary.best.source
